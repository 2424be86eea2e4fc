"""Measures between two distributions over labels.

Each takes (guess, truth), looks at the tasks both have, and averages over them.
"""

import numpy as np

from plurivox.core.labels import SoftLabels
from plurivox.evaluate._meeting import blocks, meet


def cross_entropy(guess: SoftLabels, truth: SoftLabels, *, clip: float = 1e-12) -> float:
    """The mean of -sum_k p_k log q_k in nats, where p is the truth and q the guess, at least `clip`.

    Uma et al. (2020), section 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(cross_entropy(guess, truth), 4)
    0.6931
    """
    left, right = meet(guess, truth)
    return _mean([-(p * np.log(np.maximum(q, clip))).sum(1) for q, p in blocks(left, right)])


def total_variation(guess: SoftLabels, truth: SoftLabels) -> float:
    """The mean of 1/2 sum_k |p_k - q_k|: the mass that must move to turn one into the other, 0 to 1.

    Levin, Peres and Wilmer (2009), Markov Chains and Mixing Times, section 4.1, https://doi.org/10.1090/mbk/058

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(total_variation(guess, truth), 4)
    0.3
    """
    left, right = meet(guess, truth)
    return _mean([np.abs(p - q).sum(1) / 2 for q, p in blocks(left, right)])


def _mean(parts: list[np.ndarray]) -> float:
    return float(np.concatenate(parts).mean())
