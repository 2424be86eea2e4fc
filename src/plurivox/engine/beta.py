"""Intervals of many Beta distributions at once."""

import numpy as np
from scipy.special import betaincinv

from plurivox.core.types import Floats


def beta_interval(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """(low, high) of the central interval that holds 95% of each distribution Beta(a, b).

    >>> [end.round(4).tolist() for end in beta_interval(np.array([1.0, 3.5]), np.array([1.0, 0.5]))]
    [[0.025, 0.4644], [0.975, 0.9998]]
    """
    return betaincinv(a, b, 0.025), betaincinv(a, b, 0.975)


def beta_interval_of_moments(mean: Floats, variance: Floats) -> tuple[Floats, Floats]:
    """(low, high) of the same interval, for the Beta distributions with these means and variances."""
    size = np.maximum(mean * (1 - mean) / np.where(variance > 0, variance, 1) - 1, 1e-6)
    low, high = beta_interval(mean * size, (1 - mean) * size)
    return np.where(variance > 0, low, mean), np.where(variance > 0, high, mean)
