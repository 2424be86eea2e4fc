"""Sums and shares of groups of rows: of workers, of tasks."""

import numpy as np

from plurivox.core.types import Floats, Ints


def sum_by(group: Ints, n_groups: int, values: Floats | None = None) -> Floats:
    """(n_groups,) the sum of the values of each group's rows, or how many rows it has.

    >>> sum_by(np.array([0, 2, 2]), 3, np.array([1.0, 2.0, 3.0]))
    array([1., 0., 5.])
    """
    return np.bincount(group, values, minlength=n_groups).astype(np.float64)


def quotient(part: Floats, whole: Floats) -> Floats:
    """part / whole, nan where there is no whole.

    >>> quotient(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(part, whole, out=np.full(np.shape(whole), np.nan), where=whole > 0)
