"""Table of workers and their scores: several `Scores`, and the traces of confusion matrices, joined by worker name."""

from typing import NamedTuple

import numpy as np

from plurivox.charts._contract import ChartData
from plurivox.core.array_types import Bools, Floats, Names
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.results import Confusion, Scores


class WorkerScoreTable(NamedTuple):
    """Scores of workers: one row per worker, one column per score; NaN: the worker has none."""

    workers: Names  # (n,)
    titles: tuple[str, ...]  # (m,) names of the scores
    raw: Floats  # (n, m) as the papers define them
    badness: Floats  # (n, m) higher is worse
    low: Floats  # (n, m) 95% interval of raw, NaN without
    high: Floats
    votes: Floats  # (n,) NaN if unknown

    def is_among_worst(self, share: float) -> Bools:
        """Return (n, m) whether a worker is among the worst `share` by each score, at least one; all of a tie, or none."""
        found = np.zeros(self.badness.shape, bool)
        for column, badness in enumerate(self.badness.T):
            known = np.sort(badness[~np.isnan(badness)])[::-1]
            n_worst = int(np.ceil(share * len(known)))
            if 0 < n_worst < len(known):
                found[:, column] = np.nan_to_num(badness, nan=-np.inf) > known[n_worst]
        return found

    def mean_rank(self) -> Floats:
        """Return (n,) the mean over scores of the rank of badness as a share, 1 is the worst; 0 for a worker without scores."""
        ranks = np.column_stack([rank_of_known(one) / max((~np.isnan(one)).sum(), 1) for one in self.badness.T])
        n_known = (~np.isnan(ranks)).sum(1)
        return np.asarray(np.nansum(ranks, axis=1) / np.maximum(n_known, 1))

    def rank_correlation(self, first: int, second: int) -> float:
        """Return Spearman's rank correlation of the badness of two scores; NaN if it is undefined."""
        both = ~np.isnan(self.badness[:, [first, second]]).any(1)
        x, y = (rank_of_known(self.badness[both, one]) for one in (first, second))
        if both.sum() < 3 or not np.ptp(x) or not np.ptp(y):
            return np.nan
        return float(np.corrcoef(x, y)[0, 1])


def rank_of_known(values: Floats) -> Floats:
    """Return (n,) the rank of each value, 1 for the smallest, ties sharing their mean rank; NaN stays.

    >>> rank_of_known(np.array([2.0, np.nan, 5.0, 2.0]))
    array([1.5, nan, 3. , 1.5])
    """
    known = ~np.isnan(values)
    _, place, count = np.unique(values[known], return_inverse=True, return_counts=True)
    found = np.full(len(values), np.nan)
    found[known] = (np.cumsum(count) - (count - 1) / 2)[place]
    return found


def worker_score_table(data: ChartData, most: int) -> WorkerScoreTable:
    """Return the first `most` scores of workers: those given, then the traces of the confusion matrices."""
    given = [one for one in data.scores if one.of == "worker"]
    for name, confusion in data.confusions.items():
        trace = trace_of_confusion(confusion, name)
        if not any(_is_same_column(trace, one) for one in given):
            given.append(trace)
    given = given[:most]
    texts = [as_text(one.names) for one in given]
    workers = np.unique(np.concatenate(texts)) if texts else np.zeros(0, "U1")
    shape = len(workers), len(given)
    raw, badness, low, high, n = (np.full(shape, np.nan) for _ in range(5))
    for column, (one, names) in enumerate(zip(given, texts, strict=True)):
        row = positions(workers, names)
        for table, values in ((raw, one.raw), (badness, one.badness), (low, one.low), (high, one.high), (n, one.n)):
            if values is not None:
                table[row, column] = values
    votes = np.nan_to_num(n, nan=-1).max(1, initial=-1)
    if data.votes is not None and data.votes.n_workers:
        place = positions(data.votes.workers, workers)
        votes = np.where(place >= 0, data.votes.n_answers_per_worker[place], votes)
    titles = tuple(one.made_by for one in given)
    return WorkerScoreTable(workers, titles, raw, badness, low, high, np.where(votes < 0, np.nan, votes))


def trace_of_confusion(confusion: Confusion, name: str) -> Scores:
    """Return the traces of the workers' confusion matrices as scores, such as those that a net learnt."""
    trace = np.trace(confusion.matrices, axis1=1, axis2=2)
    raw = trace if confusion.which is None else trace[confusion.which]
    return Scores("worker", confusion.workers, raw, 1 - raw / max(len(confusion.labels), 1), f"trace, {name}")


def _is_same_column(trace: Scores, other: Scores) -> bool:
    """Return whether another score is the trace of the same matrices."""
    return other.made_by == "trace" and len(other.raw) == len(trace.raw) and bool(np.allclose(other.raw, trace.raw))
