"""Scores of one task turned into a posterior, for kernels whose rows are too few or too odd for vector registers."""

import math

from plurivox.core.names import Floats
from plurivox.engine.jit import part
from plurivox.engine.kernels.maths import fast_exp


@part
def soften(row: Floats) -> float:
    """row becomes exp(row) divided by its sum; return the log of that sum. Products of many votes would underflow."""
    best, mass = row[0], 0.0
    for k in range(1, len(row)):
        best = max(best, row[k])
    for k in range(len(row)):
        row[k] = fast_exp(row[k] - best)
    for k in range(len(row)):
        mass += row[k]
    for k in range(len(row)):
        row[k] /= mass
    return best + math.log(mass)
