"""Heads: what sits on a net while it learns from people, and is taken off to predict. One file a head."""

from plurivox.train._torch import TORCH
from plurivox.train.heads._contract import Head, methods

__all__ = ["TORCH", "Head", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
