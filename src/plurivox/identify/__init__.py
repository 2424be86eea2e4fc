"""Identify: score tasks, workers or the whole crowd from votes, fits or training dynamics. One file per score."""

from plurivox.identify._contract import Evidence, Identifier, methods

__all__ = ["Evidence", "Identifier", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
