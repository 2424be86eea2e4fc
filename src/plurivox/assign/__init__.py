"""Assign: what we believe -> what to ask next. One file a way; `ls` lists them."""

from plurivox.assign._contract import Assigner, Proposals, Question, methods

__all__ = ["Assigner", "Proposals", "Question", "methods"]
__getattr__ = methods.attribute
