"""Rows of one task, for kernels that do not keep them in vector registers."""

import math

from plurivox.core.types import Floats
from plurivox.engine.jit import part
from plurivox.engine.kernels.fast_math import fast_exp


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
    share = 1.0 / mass
    for k in range(len(row)):
        row[k] *= share
    return best + math.log(mass)


@part
def copy(row: Floats, into: Floats) -> None:
    """into[:] = row, without the checks that make numba compile that for seconds."""
    for k in range(len(row)):
        into[k] = row[k]
