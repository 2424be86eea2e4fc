"""Nets: networks that map inputs to logits. One file per net; `ls` lists them."""

from plurivox.train._require_torch import TORCH
from plurivox.train.nets._contract import Net, methods

__all__ = ["TORCH", "Net", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
