"""Simulate: draw votes of a crowd with known true labels from a seed. One file per simulation strategy."""

from plurivox.simulate._contract import EASY, HARD, LEVELS, Simulated, Simulator, methods

__all__ = ["EASY", "HARD", "LEVELS", "Simulated", "Simulator", "methods"]
__getattr__ = methods.class_by_name
__dir__ = methods.public_names_of_package
