"""Aggregate: Votes -> Fit. One file per method; `ls` lists them."""

from plurivox.aggregate._contract import Aggregator, methods

__all__ = ["Aggregator", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names
