"""Sums over groups of rows (per worker, per task), and division with nan for empty groups."""

import numpy as np

from plurivox.core.array_types import Floats, Ints


def sum_by_group(group: Ints, n_groups: int, values: Floats | None = None) -> Floats:
    """Return (n_groups,) the sum of the values (n_rows,) in each group, or without `values` the number of rows in it.

    >>> sum_by_group(np.array([0, 2, 2]), 3, np.array([1.0, 2.0, 3.0]))
    array([1., 0., 5.])
    """
    return np.bincount(group, values, minlength=n_groups).astype(np.float64)


def divide_or_nan(numerator: Floats, denominator: Floats) -> Floats:
    """Return numerator / denominator, nan where the denominator is not above 0.

    >>> divide_or_nan(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.divide(numerator, denominator, out=np.full(np.shape(denominator), np.nan), where=denominator > 0)
