"""EM of models in which the tasks of each label fall into kinds, and a worker answers each kind in an own way.

Several runs from different starts share a pass over the votes: their tables stand side by side, so that a vote is looked up
once for all of them.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from plurivox.core.types import Bools, Floats, Ints
from plurivox.engine.confusion_em import KeyedVotes
from plurivox.engine.kernels import confusion, subtypes
from plurivox.engine.kernels.simd import PAD, padded, simd_width
from plurivox.engine.memory import aligned_zeros
from plurivox.engine.threads import Blocks

NEVER = -40.0  # log of a probability too small to change a sum of doubles
TOGETHER = 2**18  # cells of the tables of runs that share a pass; more would not fit into a cache
CHUNK = 4096  # tasks whose first shares are drawn at a time


class KindParams(NamedTuple):
    """What such a model learns, in logs, for the kinds that are live."""

    kinds: Ints  # (n_live,) increasing
    log_prior: Floats  # (n_live,)
    log_confusion: Floats  # (n_keys, n_live) a key is a worker and what it said, as in KeyedVotes


class KindCounts(NamedTuple):
    """Expected counts under the posterior: all that the M-step needs."""

    kinds: Ints  # (n_live,) increasing; all others have no task
    n_kind: Floats  # (n_live,) how many tasks are of each kind
    counts: Floats  # (n_keys, n_live) weights of votes


class SubtypeEM:
    """E-step and M-step over votes. `clamped` tasks keep the label distribution `known` (n_clamped, n_labels).

    Kinds stand in the order of their labels: kind k belongs to label k // n_subtypes.
    """

    def __init__(self, votes: KeyedVotes, clamped: Bools, known: Floats, n_workers: int, n_subtypes: int) -> None:
        self.votes, self.known, self.n_labels = votes, known, known.shape[1]
        self.n_workers, self.n_keys, self.n_subtypes = n_workers, n_workers * known.shape[1], n_subtypes
        self.open, self.clamped = votes.on(~clamped), votes.on(clamped)
        self.blocks = Blocks(self.open.start, cells=self.n_keys)
        self.most_votes = _most_votes(votes)

    def count(self, kinds: Ints, shares: Callable[[int, int], Floats]) -> KindCounts:
        """The counts of the M-step when tasks first:last have the posterior shares(first, last), (n, n_kinds)."""
        start, key, weight = self.votes[:3]
        width, n = simd_width(len(kinds), coarse=True), len(kinds)

        def work(first: int, last: int, n_kind: Floats, counts: Floats) -> float:
            for begin in range(first, last, CHUNK):
                end = min(begin + CHUNK, last)
                prob, rows = np.ascontiguousarray(shares(begin, end)), start[begin : end + 1]
                confusion.count(0, end - begin, rows, key, weight, prob, width, n_kind, counts)
            return 0.0

        _, (n_kind, counts) = Blocks(start, cells=self.n_keys).gather(work, n + PAD, self.n_keys * n + PAD)
        return KindCounts(kinds, n_kind[:n], counts[: self.n_keys * n].reshape(self.n_keys, n))

    def em_pass(self, runs: Sequence[KindParams]) -> list[tuple[KindCounts, float]]:
        """E-step and the counts of the M-step for every run: (counts without kinds that lost all tasks, log-likelihood)."""
        live = [self._drop_empty(params) for params in runs]
        return [found for group in self._groups(live) for found in self._pass(group)]

    def _drop_empty(self, params: KindParams) -> KindParams:
        """Leave out the kinds that no task can have.

        Votes can favour one kind over another by at most their number times the largest difference in the table. A kind
        that then is still less probable than another kind of its label, by a factor of e^-40, adds nothing to any sum.
        """
        label, score, table = params.kinds // self.n_subtypes, params.log_prior, params.log_confusion
        by_score = np.lexsort((-score, label))
        best = by_score[np.searchsorted(label[by_score], label)]  # (n_live,) the most frequent kind of the same label
        behind = score - score[best]
        for k in np.flatnonzero(behind < NEVER):
            behind[k] += self.most_votes * max(float((table[:, k] - table[:, best[k]]).max()), 0.0)
        keep = behind >= NEVER
        return params if keep.all() else KindParams(params.kinds[keep], score[keep], table[:, keep])

    def _groups(self, runs: Sequence[KindParams]) -> Iterator[Sequence[KindParams]]:
        """The runs that share a pass: as many as fit into a cache."""
        begin, cells = 0, 0
        for end, params in enumerate(runs):
            mine = self.n_keys * _n_columns(params)
            if end > begin and cells + mine > TOGETHER:
                yield runs[begin:end]
                begin, cells = end, 0
            cells += mine
        yield runs[begin:]

    def _pass(self, runs: Sequence[KindParams]) -> list[tuple[KindCounts, float]]:
        """One pass over the votes for all these runs."""
        edges = np.cumsum([0, *map(_n_columns, runs)])
        n, n_cells = int(edges[-1]), self.n_keys * int(edges[-1])
        log_prior, table = np.full(n, -np.inf), aligned_zeros(n_cells + PAD)
        for at, params in zip(edges, runs, strict=False):
            here = slice(at, at + len(params.kinds))
            log_prior[here] = params.log_prior
            table[:n_cells].reshape(self.n_keys, n)[:, here] = params.log_confusion
        width = simd_width(n)

        def work(first: int, last: int, n_kind: Floats, counts: Floats, value: Floats) -> float:
            given = (*self.open[:3], log_prior, table, edges, width)
            return subtypes.em_pass(first, last, *given, n_kind, counts, value)

        _, (n_kind, counts, values) = self.blocks.gather(work, n + PAD, n_cells + PAD, len(runs))
        found = []
        for at, params, value in zip(edges, runs, values.tolist(), strict=False):
            here = slice(at, at + len(params.kinds))
            mine = np.ascontiguousarray(counts[:n_cells].reshape(self.n_keys, n)[:, here])
            counted = KindCounts(params.kinds, n_kind[here].copy(), mine)
            found.append((counted, value + self._add_clamped(params, counted)))
        return found

    def _add_clamped(self, params: KindParams, counted: KindCounts) -> float:
        """Add the clamped tasks to the counts in place; return their log-likelihood."""
        if len(self.clamped.start) == 1:
            return 0.0
        start, key, weight = self.clamped[:3]
        label_start, log_prior, table = self._label_start(params.kinds), params.log_prior, params.log_confusion
        return subtypes.clamped_pass(
            start, key, weight, self.known, label_start, log_prior, table, counted.n_kind, counted.counts
        )

    def posterior(self, params: KindParams) -> tuple[Floats, Floats]:
        """((n_open, n_labels) posterior of the tasks that are not clamped, (n_workers,) votes that the others agree with).

        A vote is compared with the posterior under the other workers' votes on its task, or with its known label.
        """
        prob = np.empty((len(self.open.start) - 1, self.n_labels))
        width, table = simd_width(len(params.kinds), coarse=True), padded(params.log_confusion)
        given = (params.log_prior, table, self._label_start(params.kinds), width, prob)

        def work(first: int, last: int, agree: Floats) -> float:
            return subtypes.posterior(first, last, *self.open, *given, agree)

        _, (agree,) = self.blocks.gather(work, self.n_workers)
        start, _, weight, worker, said = self.clamped
        right = self.known[np.repeat(np.arange(len(start) - 1), np.diff(start)), said]
        return prob, agree + np.bincount(worker, right if weight is None else right * weight, self.n_workers)

    def _label_start(self, kinds: Ints) -> Ints:
        """(n_labels + 1,) where the kinds of each label begin."""
        return np.searchsorted(kinds, np.arange(self.n_labels + 1) * self.n_subtypes)


def _n_columns(params: KindParams) -> int:
    """The columns of a run in a shared table: a multiple of four."""
    return -(-len(params.kinds) // 4) * 4


def _most_votes(votes: KeyedVotes) -> float:
    """The largest weight of the votes on one task."""
    if votes.weight is None:
        return float(np.diff(votes.start).max(initial=0))
    total = np.concatenate([[0.0], np.cumsum(votes.weight)])[votes.start]
    return float(np.diff(total).max(initial=0.0))
