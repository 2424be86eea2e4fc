"""The finite-vote floor: the values of measures that even the true distributions would have against a few votes."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.engine.dirichlet_mixture import (
    MAX_MIXTURE_LABELS,
    DirichletMixture,
    fit_dirichlet_mixture,
    start_mixture,
    tasks_that_teach,
)
from plurivox.evaluate.distance_to_people import WIDTH, numbers_per_task
from plurivox.evaluate.measures.soft_label_measures import SMOOTHING

MAX_CELLS = 2**20  # probabilities drawn at a time
TINY = 1e-100  # shares below this are 0: half of them would be 0 in floating point
LOG_RANGE = np.log(1e-3), np.log(1e4)  # of the concentration


@dataclass(frozen=True, eq=False)
class DirichletCrowd:
    """A model of what people say: the true distribution of each task is drawn from a mixture of Dirichlet distributions."""

    mixture: DirichletMixture

    @classmethod
    def learn(cls, counts: Floats) -> Self:
        """Learn the model from vote counts (n_tasks, n_labels), by maximum marginal likelihood.

        With up to 64 labels it is the mixture of `calibrated-shares`: for every label tasks on which people agree, and tasks on
        which it has a rival. With more labels it is one Dirichlet distribution whose mean are the overall shares.

        >>> counts = np.array([[5.0, 5.0], [4.0, 6.0], [6.0, 4.0], [5.0, 5.0]] * 50)  # all tasks alike
        >>> drawn = DirichletCrowd.learn(counts).draw_true_shares(counts, np.random.default_rng(0))
        >>> bool(abs(drawn - 0.5).mean() < 0.05)
        True
        """
        mean = (counts.sum(0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])
        if counts.shape[1] <= MAX_MIXTURE_LABELS:
            start = start_mixture(mean)
            sample = tasks_that_teach(np.arange(len(counts)), start)
            return cls(fit_dirichlet_mixture(counts[sample], start).mixture)
        return cls(DirichletMixture((_concentration_by_likelihood(counts, mean) * mean)[None], np.ones(1)))

    def draw_true_shares(self, counts: Floats, rng: np.random.Generator) -> Floats:
        """Return (n_tasks, n_labels) true distributions drawn from the posterior given the vote counts of the same shape."""
        below = self.mixture.responsibilities(counts).cumsum(1)
        kind = (below < rng.random((len(counts), 1)) * below[:, -1:]).sum(1)
        drawn = rng.standard_gamma(self.mixture.alpha[kind] + counts)
        share: Floats = drawn / drawn.sum(1, keepdims=True)
        return np.where(share < TINY, 0.0, share)


def _concentration_by_likelihood(counts: Floats, mean: Floats) -> float:
    """Return the concentration of a Dirichlet distribution with this mean that makes the vote counts most probable."""
    from scipy.optimize import minimize_scalar  # imported here because it is slow
    from scipy.special import gammaln

    at, label = np.nonzero(counts)
    value, times = np.unique(np.stack([label, counts[at, label]]), axis=1, return_counts=True)
    sizes, n_sizes = np.unique(counts.sum(1), return_counts=True)
    cell_label = value[0].astype(np.int64)

    def negative_log_likelihood(log_concentration: float) -> float:
        a = np.exp(log_concentration)
        own = a * mean[cell_label]
        cells = (times * (gammaln(own + value[1]) - gammaln(own))).sum()
        return float(-cells - (n_sizes * (gammaln(a) - gammaln(a + sizes))).sum())

    found = minimize_scalar(negative_log_likelihood, bounds=LOG_RANGE, method="bounded", options={"xatol": 0.01})
    return float(np.exp(found.x))


def finite_vote_numbers(
    counts: Floats, n_votes: Floats, *, draws: int = 5, seed: int = 0, smoothing: float = SMOOTHING
) -> Floats:
    """Return (11,) the mean of the sums of `numbers_per_task` that the true distributions would have against their own votes.

    The true distribution of each task is not known: it is drawn from its posterior given all votes of the task, `counts`
    (n_tasks, n_labels), in the model `DirichletCrowd`; then `n_votes` (n_tasks,) votes are drawn from it, and it is compared
    with their shares. `draws` is the number of repetitions.

    >>> from plurivox.evaluate.distance_to_people import measures_from_sums
    >>> counts = np.full((1000, 2), 5000.0)  # coins
    >>> manhattan = measures_from_sums(finite_vote_numbers(counts, np.full(1000, 4.0)))[0]
    >>> bool(abs(manhattan - 0.375) < 0.02)  # the mean of |2 heads / 4 - 1|
    True
    """
    rng, crowd = np.random.default_rng(seed), DirichletCrowd.learn(counts)
    size = max(MAX_CELLS // sum(crowd.mixture.alpha.shape), 1)
    total = np.zeros(WIDTH)
    for begin in [begin for begin in range(0, len(counts), size) for _ in range(draws)]:
        rows = slice(begin, begin + size)
        true = crowd.draw_true_shares(counts[rows], rng)
        n = np.maximum(np.round(n_votes[rows]), 1)
        votes = rng.multinomial(n.astype(np.int64), true) / n[:, None]
        total += numbers_per_task(Dense(true), Dense(votes), n, smoothing).sum(0)
    return total / draws
