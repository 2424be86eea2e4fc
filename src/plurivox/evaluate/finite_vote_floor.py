"""The finite-vote floor: the values of measures that even the true distributions would have against a few votes."""

from dataclasses import dataclass
from typing import Self

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.soft_rows_dense_sparse import Dense
from plurivox.evaluate.distance_to_people import WIDTH, numbers_per_task
from plurivox.evaluate.measures.soft_label_measures import SMOOTHING

MAX_CELLS = 2**20  # probabilities drawn at a time
TINY = 1e-100  # shares below this are 0: half of them would be 0 in floating point
LOG_RANGE = np.log(1e-3), np.log(1e4)  # of the concentration


@dataclass(frozen=True, eq=False)
class DirichletCrowd:
    """A model of what people say: the true distribution of each task is drawn from one Dirichlet distribution.

    Mosimann (1962), https://doi.org/10.1093/biomet/49.1-2.65
    """

    pseudo_votes: Floats  # (n_labels,) the parameters of the Dirichlet distribution

    @classmethod
    def learn(cls, counts: Floats) -> Self:
        """Learn the model from vote counts (n_tasks, n_labels): mean = overall shares, concentration by maximum likelihood.

        >>> counts = np.array([[5.0, 5.0], [4.0, 6.0], [6.0, 4.0], [5.0, 5.0]])  # all tasks alike
        >>> bool(DirichletCrowd.learn(counts).pseudo_votes.sum() > 100)
        True
        """
        from scipy.optimize import minimize_scalar  # imported here because it is slow
        from scipy.special import gammaln

        mean = (counts.sum(0) + 0.5) / (counts.sum() + 0.5 * counts.shape[1])
        total = counts.sum(1)
        at, label = np.nonzero(counts)
        value, times = np.unique(np.stack([label, counts[at, label]]), axis=1, return_counts=True)
        sizes, n_sizes = np.unique(total, return_counts=True)
        cell_label = value[0].astype(np.int64)

        def negative_log_likelihood(log_concentration: float) -> float:
            a = np.exp(log_concentration)
            own = a * mean[cell_label]
            cells = (times * (gammaln(own + value[1]) - gammaln(own))).sum()
            return float(-cells - (n_sizes * (gammaln(a) - gammaln(a + sizes))).sum())

        found = minimize_scalar(negative_log_likelihood, bounds=LOG_RANGE, method="bounded", options={"xatol": 0.01})
        return cls(float(np.exp(found.x)) * mean)

    def draw_true_shares(self, counts: Floats, rng: np.random.Generator) -> Floats:
        """Return (n_tasks, n_labels) true distributions drawn from the posterior given the vote counts of the same shape."""
        drawn = rng.standard_gamma(self.pseudo_votes + counts)
        share: Floats = drawn / drawn.sum(1, keepdims=True)
        return np.where(share < TINY, 0.0, share)


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
    size = max(MAX_CELLS // max(counts.shape[1], 1), 1)
    total = np.zeros(WIDTH)
    for begin in [begin for begin in range(0, len(counts), size) for _ in range(draws)]:
        rows = slice(begin, begin + size)
        true = crowd.draw_true_shares(counts[rows], rng)
        n = np.maximum(np.round(n_votes[rows]), 1)
        votes = rng.multinomial(n.astype(np.int64), true) / n[:, None]
        total += numbers_per_task(Dense(true), Dense(votes), n, smoothing).sum(0)
    return total / draws
