"""Targets: what a task teaches when it is drawn. One file a target; `ls` lists them."""

from plurivox.train._torch import TORCH
from plurivox.train.targets._contract import Known, Target, methods

__all__ = ["TORCH", "Known", "Target", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
