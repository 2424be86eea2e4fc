"""Targets: what a task teaches when it is drawn. One file a target; `ls` lists them."""

from plurivox.train._torch import TORCH
from plurivox.train.targets._contract import Supervision, Target, methods

__all__ = ["TORCH", "Supervision", "Target", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
