"""Agreement of pairs of workers as a square table: which workers are in it, and their order."""

from typing import Literal, NamedTuple

import numpy as np

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.votes import Votes
from plurivox.engine.worker_pair_agreement import agreement_of_worker_pairs

POOL = 400  # workers with the most votes, of whom those with the most partners are shown

Measure = Literal["agreement", "kappa"]
Order = Literal["clusters", "mean", "votes"]


class PairAgreement(NamedTuple):
    """Agreement of pairs of workers, rows and columns in the same order."""

    workers: Names  # (n,)
    value: Floats  # (n, n) NaN on the diagonal, and for pairs that share too few tasks or have no kappa
    n_shared: Floats  # (n, n) common tasks; 0 if fewer than needed
    n_crowd: int  # workers with votes

    @property
    def mean(self) -> Floats:
        """(n,) the mean agreement of each worker with the others that are shown; NaN without."""
        known = ~np.isnan(self.value)
        return np.asarray(np.where(known.any(1), np.nansum(self.value, 1) / np.maximum(known.sum(1), 1), np.nan))

    def pairs(self) -> tuple[Floats, Floats]:
        """Return (agreement, common tasks) of every pair once, without those that share too few tasks."""
        upper = np.triu(~np.isnan(self.value), 1)
        return self.value[upper], self.n_shared[upper]

    def closest_pair(self) -> tuple[int, int]:
        """Return the two workers who agree most; of several such pairs, the one with the most common tasks."""
        first, second = np.nonzero(np.triu(~np.isnan(self.value), 1))
        best = np.lexsort((-self.n_shared[first, second], -self.value[first, second]))[0]
        return int(first[best]), int(second[best])

    def reordered(self, order: Ints) -> "PairAgreement":
        """Return the table with its rows and columns in this order, or some of them."""
        square = np.ix_(order, order)
        return self._replace(workers=self.workers[order], value=self.value[square], n_shared=self.n_shared[square])


def pair_agreement(votes: Votes, k: int, least: int, measure: Measure, order: Order) -> PairAgreement:
    """Return the agreement of k workers at most who share `least` tasks or more with most others; repeats count once."""
    load = votes.n_answers_per_worker
    pool = np.argsort(-load, kind="stable")[:POOL]
    pool = pool[load[pool] > 0]
    known = votes.where(np.isin(votes.worker, pool))
    found = agreement_of_worker_pairs(
        one_answer_per_task_and_worker(known).votes, np.zeros(votes.n_labels), "none", least
    )
    value = np.full((len(pool), len(pool)), np.nan)
    n_shared = np.zeros(value.shape)
    place = np.zeros(votes.n_workers, np.int64)
    place[pool] = np.arange(len(pool))
    first, second = place[found.first], place[found.second]
    for one, other in ((first, second), (second, first)):
        value[one, other] = found.kappa if measure == "kappa" else 1 - found.distance
        n_shared[one, other] = found.n_shared
    partners = (~np.isnan(value)).sum(1)
    chosen = np.lexsort((np.arange(len(pool)), -load[pool], -partners))[:k]
    chosen = np.sort(chosen[partners[chosen] > 0])  # by votes, most first
    made = PairAgreement(votes.workers[pool], value, n_shared, int((load > 0).sum())).reordered(chosen)
    return made.reordered(_order(made, order))


def _order(made: PairAgreement, order: Order) -> Ints:
    """Return the order of the workers: by votes as they are, by mean agreement, or similar ones side by side."""
    n = len(made.workers)
    if order == "votes" or n < 3:
        return np.arange(n)
    by_mean = np.argsort(-np.nan_to_num(made.mean, nan=-np.inf), kind="stable")
    if order == "mean":
        return by_mean
    from scipy.cluster.hierarchy import leaves_list, linkage  # imported here because it is slow
    from scipy.spatial.distance import squareform

    distance = np.maximum(1 - _without_gaps(made), 0)
    np.fill_diagonal(distance, 0)
    found = leaves_list(linkage(squareform(distance, checks=False), "average", optimal_ordering=True))
    half = n // 2
    mean = np.nan_to_num(made.mean[found], nan=0.0)
    return np.asarray(found if mean[:half].mean() >= mean[-half:].mean() else found[::-1])  # who agree most come first


def _without_gaps(made: PairAgreement) -> Floats:
    """Return the agreement with unknown pairs filled in: what the means of their two workers let expect."""
    overall = float(np.nanmean(made.value))
    mean = np.nan_to_num(made.mean, nan=overall)
    expected = np.clip(mean[:, None] + mean[None] - overall, -1, 1)
    return np.where(np.isnan(made.value), expected, made.value)
