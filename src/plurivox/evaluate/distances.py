"""Earth mover's distances between two sets of soft labels, and the one that only looks like it."""

import numpy as np

from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats
from plurivox.evaluate._meeting import each, meet


def sorted_wasserstein(guess: SoftLabels, truth: SoftLabels) -> float:
    """The "Wasserstein" of Collins et al.: the mean of 1/K sum_j |p_(j) - q_(j)|, probabilities sorted within each task.

    It takes the K probabilities of a task for samples of a number, so it does not see which label holds them: a guess
    that is sure of the wrong label is at 0 from the truth. For labels use `total_variation` or `wasserstein`.
    Collins et al. (2022), section 4.3, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> guess, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.9, .1], [.2, .8]))
    >>> round(sorted_wasserstein(guess, truth), 4)
    0.1
    """
    return float(each(sorted_wassersteins, *meet(guess, truth)).mean())


def sorted_wassersteins(q: Floats, p: Floats) -> Floats:
    """(n,) of the rows of guess and truth."""
    return np.abs(np.sort(p, 1) - np.sort(q, 1)).mean(1)
