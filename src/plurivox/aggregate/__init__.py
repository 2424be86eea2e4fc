"""Aggregation methods, which turn votes into a `Fit` with soft labels: one file per method, classes imported lazily."""

from plurivox.aggregate._contract import Aggregator, methods

__all__ = ["Aggregator", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
