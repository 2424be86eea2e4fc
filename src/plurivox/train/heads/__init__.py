"""Heads: layers on a net that model the workers during training and are removed for prediction. One file per head."""

from plurivox.train._require_torch import TORCH
from plurivox.train.heads._contract import Head, methods

__all__ = ["TORCH", "Head", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
