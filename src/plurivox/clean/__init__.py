"""Clean: answers or votes -> the same without some, and an audit that says which and why. One file a rule."""

from plurivox.clean._contract import Cleaned, Entered, Found, Rule, clean, methods

__all__ = ["Cleaned", "Entered", "Found", "Rule", "clean", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
