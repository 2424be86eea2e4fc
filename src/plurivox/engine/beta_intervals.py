"""95% intervals of Beta distributions and of proportions (Jeffreys), vectorised."""

from typing import Any

import numpy as np
from scipy.special import betaincinv

from plurivox.core.array_types import Floats


def beta_interval_95(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Return (low, high) of the central 95% interval of each distribution Beta(a, b).

    >>> [end.round(4).tolist() for end in beta_interval_95(np.array([1.0, 3.5]), np.array([1.0, 0.5]))]
    [[0.025, 0.4644], [0.975, 0.9998]]
    """
    return betaincinv(a, b, 0.025), betaincinv(a, b, 0.975)


def jeffreys_interval_95(share: Floats, n_votes: Any) -> tuple[Floats, Floats]:
    """Return (low, high) of the 95% Jeffreys interval of a share of `n_votes` votes, or of the mean of as many soft answers.

    The interval is that of Beta(n p + 1/2, n (1 - p) + 1/2), widened to contain the share p.

    >>> [end.round(3).tolist() for end in jeffreys_interval_95(np.array([0.5, 1.0]), np.array([10, 10]))]
    [[0.224, 0.783], [0.776, 1.0]]
    """
    # compute each distinct pair once: quantiles are slow
    both, again = np.unique((share + 1j * n_votes).ravel(), return_inverse=True)
    a, b = both.imag * both.real + 0.5, both.imag * (1 - both.real) + 0.5
    low, high = (end[again].reshape(share.shape) for end in beta_interval_95(a, b))
    return np.minimum(low, share), np.maximum(high, share)
