"""Targets: the labels, distributions or votes that a net is trained on. One file per target; `ls` lists them."""

from plurivox.train._require_torch import TORCH
from plurivox.train.targets._contract import Supervision, Target, methods

__all__ = ["TORCH", "Supervision", "Target", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
