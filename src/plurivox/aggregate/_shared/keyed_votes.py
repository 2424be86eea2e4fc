"""The crowd of the models with confusion matrices: passes over its votes, and its tables."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurivox.aggregate._shared.unlabelled_tasks import OpenTasks
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.engine.kernels import confusion, confusion_tables
from plurivox.engine.kernels.simd import PAD, padded, quads_of
from plurivox.engine.threads import Blocks, run

PIECE = 2**15  # cells of a table that one thread makes at a time


class Params(NamedTuple):
    """What such a model learns, in logs."""

    log_prior: Floats  # (n_labels,)
    table: Floats  # (n_workers * n_labels * n_labels + PAD,) flat [worker, said, true]


class Sums(NamedTuple):
    """What one pass over the votes finds: the tasks and votes that each parameter has to explain."""

    n_true: Floats  # (n_labels,) how many tasks truly have each label
    counts: Floats  # (n_workers * n_labels * n_labels + PAD,) flat [worker, said, true], weights of votes


class Crowd(OpenTasks):
    """Votes as the kernels of confusion matrices want them: worker and said label in one key.

    The votes on known tasks are counted once, and added to the counts of every pass.
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None = None) -> None:
        super().__init__(votes, gold)
        self.n_cells = self.n_workers * self.n_labels**2
        self.quads, self.coarse = quads_of(self.n_labels), quads_of(self.n_labels, coarse=True)
        self.blocks = self._blocks(self.start)
        self.key, self.open_weight = self._keys(self.is_open)
        self.known = self._count_known() if len(self.gold_place) else None

    def _blocks(self, start: Ints) -> Blocks:
        return Blocks(start, cells=self.n_cells, width=self.n_labels)

    def _keys(self, tasks: Bools) -> tuple[Ints, Floats | None]:
        """(key, weight) of the rows of some tasks."""
        rows = self.rows(tasks)
        key = self.votes.worker[rows].astype(np.uint32)
        key *= np.uint32(self.n_labels)
        key += self.votes.label[rows]
        return key, self.weight(rows)

    def _count_known(self) -> Sums:
        assert self.gold is not None
        start = self.starts(self.is_known)
        prob = np.ascontiguousarray(self.gold.prob, np.float64)
        return self._count(self._blocks(start), start, *self._keys(self.is_known), prob)

    # ---- passes over the votes

    def sweep(self, params: Params) -> tuple[Sums, float]:
        """E-step and the sums of the M-step: (sums, log likelihood of the votes, known labels included)."""
        return self._sweep(params, confusion.sweep, self.quads)

    def hard_sweep(self, params: Params) -> tuple[Sums, float]:
        """The same when every task takes its most probable label for certain: (sums, log likelihood of both)."""
        return self._sweep(params, confusion.hard_sweep, self.coarse)

    def _sweep(self, params: Params, kernel: Callable[..., float], quads: tuple[int, ...]) -> tuple[Sums, float]:
        def work(first: int, last: int, n_true: Floats, counts: Floats) -> float:
            return kernel(first, last, self.start, self.key, self.open_weight, *params, quads, n_true, counts)

        value, (n_true, counts) = self.blocks.gather(work, self.n_labels + PAD, self.n_cells + PAD)
        if self.known is not None:
            value += float(self.known.n_true @ params.log_prior)
            value += float(np.einsum("i,i->", self.known.counts, params.table))  # same bits for any number of threads
        return self._with_known(Sums(n_true[: self.n_labels], counts)), value

    def vote_shares(self) -> Floats:
        """(n_open, n_labels) the share of a task's votes that each label got."""
        share = np.empty(len(self.open) * self.n_labels)
        votes = self.start, self.key, self.open_weight
        self.blocks.map(lambda first, last: confusion.shares(first, last, *votes, self.n_labels, share))
        return share.reshape(-1, self.n_labels)

    def count(self, posterior: Floats) -> Sums:
        """The sums of a given (n_open, n_labels) posterior of the open tasks."""
        return self._with_known(self._count(self.blocks, self.start, self.key, self.open_weight, posterior))

    def _count(self, blocks: Blocks, start: Ints, key: Ints, weight: Floats | None, prob: Floats) -> Sums:
        def work(first: int, last: int, n_true: Floats, counts: Floats) -> float:
            flat, k = prob.reshape(-1), self.n_labels
            return confusion.count(first, last, start, key, weight, flat, k, self.coarse, n_true, counts)

        _, (n_true, counts) = blocks.gather(work, self.n_labels + PAD, self.n_cells + PAD)
        return Sums(n_true[: self.n_labels], counts)

    def _with_known(self, sums: Sums) -> Sums:
        if self.known is None:
            return sums
        return Sums(sums.n_true + self.known.n_true, sums.counts + self.known.counts)

    def believe(self, params: Params) -> tuple[Floats, Floats]:
        """(posterior of every task, for each worker the share of its answers that the rest agrees with).

        That share is honest: an answer is held against the other votes on its task, or against its known label.
        """
        posterior = np.empty(len(self.open) * self.n_labels)

        def work(first: int, last: int, agree: Floats) -> float:
            return confusion.believe(
                first, last, self.start, self.key, self.open_weight, *params, self.coarse, posterior, agree
            )

        _, (agree,) = self.blocks.gather(work, self.n_workers)
        if self.known is not None:
            agree += np.einsum("wkk->w", self.tensor(self.known.counts))
        whole = self.whole(posterior.reshape(-1, self.n_labels), np.exp(params.log_prior))
        return whole, self.shared_with(agree)

    # ---- tables

    def log_shares(self, counts: Floats, pseudo: Floats) -> Floats:
        """The table of log p(said | true) of every worker, `pseudo` (said, true) added to each one's counts."""
        table, added, k = np.zeros(self.n_cells + PAD), padded(pseudo), self.n_labels
        self._by_worker(
            lambda first, last: confusion_tables.log_shares(first, last, k, counts, added, self.coarse, table)
        )
        return table

    def renormalise(self, table: Floats) -> Floats:
        """The table with the shares of what is said summing to one for each worker and true label; changed in place."""
        self._by_worker(
            lambda first, last: confusion_tables.renormalise(first, last, self.n_labels, self.coarse, table)
        )
        return table

    def _by_worker(self, work: Callable[[int, int], None]) -> None:
        step = max(1, PIECE // self.n_labels**2)
        run(lambda i: work(i * step, min((i + 1) * step, self.n_workers)), -(-self.n_workers // step))

    def tensor(self, flat: Floats) -> Floats:
        """(n_workers, said, true) a flat table without its spare cells."""
        return flat[: self.n_cells].reshape(self.n_workers, self.n_labels, self.n_labels)

    def flat(self, tensor: Floats) -> Floats:
        """A flat table, spare cells at its end, of a (n_workers, said, true) tensor."""
        table = np.zeros(self.n_cells + PAD)
        self.tensor(table)[:] = tensor
        return table
