"""Elicit: Answers -> Votes. One file per form; `ls` lists them."""

from plurivox.elicit._contract import FLAGS, OUTCOMES, Elicited, Form, methods

__all__ = ["FLAGS", "OUTCOMES", "Elicited", "Form", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
