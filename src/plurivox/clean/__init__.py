"""Clean: remove answers or votes by rules, and list in an audit what was removed and why. One file per rule."""

from plurivox.clean._contract import AnswerRows, Cleaned, Findings, Rule, clean, methods

__all__ = ["AnswerRows", "Cleaned", "Findings", "Rule", "clean", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names
