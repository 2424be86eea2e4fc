"""Aggregate: Votes -> Fit. One file per method; `ls` lists them."""

from plurivox.aggregate._contract import Aggregator, methods

__all__ = ["Aggregator", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
