"""Nets: the shape of an input -> a network that gives logits. One file a net; `ls` lists them."""

from plurivox.train._torch import TORCH
from plurivox.train.nets._contract import Net, methods

__all__ = ["TORCH", "Net", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
