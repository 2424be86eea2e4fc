"""Losses: (logits, target distribution) -> one number per example. One file per loss; `ls` lists them."""

from plurivox.train._require_torch import TORCH
from plurivox.train.losses._contract import Loss, methods

__all__ = ["TORCH", "Loss", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
