"""Evaluate: (guess, truth) -> number, and what a crowd looks like. Pure functions on the nouns."""

from plurivox.evaluate.describe import Description, describe

__all__ = ["Description", "describe"]
