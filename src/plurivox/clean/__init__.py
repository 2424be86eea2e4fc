"""Cleaning rules, which remove answers or votes and list each removal with its reason in an audit: one file per rule."""

from plurivox.clean._contract import AnswerRows, Cleaned, Findings, Rule, clean, methods

__all__ = ["AnswerRows", "Cleaned", "Findings", "Rule", "clean", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
