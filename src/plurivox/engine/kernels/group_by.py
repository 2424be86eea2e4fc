"""Group rows by an integer code (counting sort), and the median of each group."""

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.numba_compilation import compile_kernel


@compile_kernel
def row_order_and_offsets_by_group(group_of_row: Ints, n_groups: int) -> tuple[Ints, Ints]:
    """Group rows by code: return (order, start), the rows of group g are order[start[g]:start[g + 1]]; codes below 0
    are left out.

    A stable counting sort: one pass to count, one to place.
    """
    start = np.zeros(n_groups + 1, np.int64)
    for row in range(len(group_of_row)):
        if group_of_row[row] >= 0:
            start[group_of_row[row] + 1] += 1
    for g in range(n_groups):
        start[g + 1] += start[g]
    order = np.empty(start[n_groups], np.int64)
    free = start.copy()
    for row in range(len(group_of_row)):
        if group_of_row[row] >= 0:
            order[free[group_of_row[row]]] = row
            free[group_of_row[row]] += 1
    return order, start


@compile_kernel
def group_medians(start: Ints, values: Floats) -> Floats:
    """(n_groups,) the median of each group g of values, values[start[g]:start[g + 1]]; nan for an empty group."""
    out = np.full(len(start) - 1, np.nan)
    for g in range(len(start) - 1):
        if start[g + 1] > start[g]:
            out[g] = np.median(values[start[g] : start[g + 1]])
    return out
