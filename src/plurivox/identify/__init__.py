"""Identify: votes, fits, dynamics -> scores of tasks, workers and the crowd. One file a score; `ls` lists them."""

from plurivox.identify._contract import Evidence, Identifier, methods

__all__ = ["Evidence", "Identifier", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
