"""Elicitation forms, which turn answers into votes: one file per form, classes imported lazily."""

from plurivox.elicit._contract import FLAGS, OUTCOMES, Elicited, Form, methods

__all__ = ["FLAGS", "OUTCOMES", "Elicited", "Form", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
