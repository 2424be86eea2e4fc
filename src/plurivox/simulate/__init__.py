"""Simulate: seed -> votes and truth. One file a strategy; `ls` lists them."""

from plurivox.simulate._contract import EASY, HARD, LEVELS, Simulated, Simulator, methods

__all__ = ["EASY", "HARD", "LEVELS", "Simulated", "Simulator", "methods"]
__getattr__ = methods.attribute
__dir__ = methods.attributes
