"""Clean: answers or votes -> the same without some, and an audit that says which and why. One file a rule."""

from plurivox.clean._contract import AnswerRows, Cleaned, Found, Rule, clean, methods

__all__ = ["AnswerRows", "Cleaned", "Found", "Rule", "clean", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
