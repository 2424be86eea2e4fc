"""Elicit: Answers -> Votes. One file per form; `ls` lists them."""

from plurivox.elicit._contract import FLAGS, OUTCOMES, Elicited, Form, methods

__all__ = ["FLAGS", "OUTCOMES", "Elicited", "Form", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names
