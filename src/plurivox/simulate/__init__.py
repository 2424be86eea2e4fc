"""Simulate: seed -> votes and truth. One file a strategy; `ls` lists them."""

from plurivox.simulate._contract import Simulated, Simulator, methods

__all__ = ["Simulated", "Simulator", "methods"]
__getattr__ = methods.attribute
