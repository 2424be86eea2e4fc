"""Elicit: Answers -> Votes. One file a form; `ls` lists them."""

from plurivox.elicit._contract import Elicited, Form, methods

__all__ = ["Elicited", "Form", "methods"]
__getattr__ = methods.attribute
