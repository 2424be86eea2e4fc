"""Rows in groups: who belongs where, and the middle of each."""

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.engine.jit import kernel


@kernel
def group_rows(group: Ints, n_groups: int) -> tuple[Ints, Ints]:
    """(order, start): the rows of group g are order[start[g]:start[g + 1]], in their order. Groups below 0 are left out.

    Counting instead of sorting: one pass to count, one to place.
    """
    start = np.zeros(n_groups + 1, np.int64)
    for row in range(len(group)):
        if group[row] >= 0:
            start[group[row] + 1] += 1
    for g in range(n_groups):
        start[g + 1] += start[g]
    order = np.empty(start[n_groups], np.int64)
    free = start.copy()
    for row in range(len(group)):
        if group[row] >= 0:
            order[free[group[row]]] = row
            free[group[row]] += 1
    return order, start


@kernel
def group_medians(start: Ints, values: Floats) -> Floats:
    """(n_groups,) the median of values[start[g]:start[g + 1]]; nan for a group without any."""
    out = np.full(len(start) - 1, np.nan)
    for g in range(len(start) - 1):
        if start[g + 1] > start[g]:
            out[g] = np.median(values[start[g] : start[g + 1]])
    return out
