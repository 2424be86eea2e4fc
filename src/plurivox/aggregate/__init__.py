"""Aggregate: Votes -> Fit. One file a method; `ls` lists them."""

from plurivox.aggregate._contract import Aggregator, methods

__all__ = ["Aggregator", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
