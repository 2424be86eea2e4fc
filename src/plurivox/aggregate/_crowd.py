"""The votes laid out for the kernels of confusion matrices. Tasks with known labels enter as fixed counts."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats, positions
from plurivox.core.votes import Votes
from plurivox.engine.blocks import Blocks, run
from plurivox.engine.kernels import confusion
from plurivox.engine.kernels.rows import PAD, quads_of

PIECE = 2**15  # cells of a table that one thread makes at a time


class Params(NamedTuple):
    """What such a model learns, in logs."""

    log_prior: Floats  # (n_labels,)
    table: Floats  # (n_workers * n_labels * n_labels + PAD,) flat [worker, said, true]


class Sums(NamedTuple):
    """What one pass over the votes finds: the tasks and votes that each parameter has to explain."""

    n_true: Floats  # (n_labels,) how many tasks truly have each label
    counts: Floats  # (n_workers * n_labels * n_labels + PAD,) flat [worker, said, true], weights of votes


class Crowd:
    """Votes as kernels want them: tasks that are open and have votes in CSR order, worker and said label in one key.

    A known task never changes, so its votes are counted once (`known`) and added to every later count; a task without
    a vote says nothing and stays outside. Both come back with `whole`.
    """

    def __init__(self, votes: Votes, gold: SoftLabels | None = None) -> None:
        self.votes, self.n_labels, self.n_workers = votes, votes.n_labels, votes.n_workers
        self.n_cells = self.n_workers * self.n_labels**2
        self.gold = None if gold is None else gold.shared(votes.tasks).on_labels(votes.labels)
        self.gold_place = np.zeros(0, np.int64) if self.gold is None else positions(votes.tasks, self.gold.tasks)
        is_open = np.diff(votes.start) > 0
        is_open[self.gold_place] = False
        self.open = np.flatnonzero(is_open)  # (n_open,) codes of the tasks whose label is to be found
        self.start, self.key, self.weight = self._rows(is_open)
        self.blocks = Blocks(self.start, cells=self.n_cells, width=self.n_labels)
        self.quads = quads_of(self.n_labels)
        self.known = self._count_known() if len(self.gold_place) else None

    def _rows(self, tasks: np.ndarray) -> tuple[np.ndarray, np.ndarray, Floats | None]:
        """(start, key, weight) of the rows of some tasks."""
        votes = self.votes
        start = np.concatenate([[0], np.cumsum(np.diff(votes.start)[tasks])])
        keep = slice(None) if start[-1] == len(votes) else tasks[votes.task]
        key = votes.worker[keep].astype(np.uint32)
        key *= np.uint32(self.n_labels)
        key += votes.label[keep]
        weight = None if votes.weight is None else np.ascontiguousarray(votes.weight[keep], np.float64)
        return start, key, weight

    def _count_known(self) -> Sums:
        assert self.gold is not None
        chosen = np.zeros(self.votes.n_tasks, bool)
        chosen[self.gold_place] = True
        start, key, weight = self._rows(chosen)
        prob = np.ascontiguousarray(self.gold.prob, np.float64)  # in the order of the votes' tasks: `shared` saw to it
        return self._count(Blocks(start, cells=self.n_cells, width=self.n_labels), start, key, weight, prob)

    # ---- passes over the votes

    def sweep(self, params: Params) -> tuple[Sums, float]:
        """E-step and the sums of the M-step: (sums, log likelihood of the votes, known labels included)."""

        def work(first: int, last: int, n_true: Floats, counts: Floats) -> float:
            return confusion.sweep(first, last, self.start, self.key, self.weight, *params, self.quads, n_true, counts)

        value, (n_true, counts) = self.blocks.gather(work, self.n_labels + PAD, self.n_cells + PAD)
        sums = self._with_known(Sums(n_true[: self.n_labels], counts))
        if self.known is not None:
            value += float(self.known.n_true @ params.log_prior) + float(self.known.counts @ params.table)
        return sums, value

    def count(self, posterior: Floats) -> Sums:
        """The sums of a given (n_open, n_labels) posterior of the open tasks."""
        return self._with_known(self._count(self.blocks, self.start, self.key, self.weight, posterior))

    def _count(self, blocks: Blocks, start: np.ndarray, key: np.ndarray, weight: Floats | None, prob: Floats) -> Sums:
        def work(first: int, last: int, n_true: Floats, counts: Floats) -> float:
            return confusion.count(first, last, start, key, weight, prob.reshape(-1), self.n_labels, n_true, counts)

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
                first, last, self.start, self.key, self.weight, *params, self.quads, posterior, agree
            )

        _, (agree,) = self.blocks.gather(work, self.n_workers)
        if self.known is not None:
            agree += np.einsum("wkk->w", self.tensor(self.known.counts))
        return self.whole(posterior.reshape(-1, self.n_labels), np.exp(params.log_prior)), self.share(agree)

    def share(self, agree: Floats) -> Floats:
        """(n_workers,) sums over the answers of each worker, divided by their number; nan for those who gave none."""
        load = self.votes.workload
        return np.divide(agree, load, out=np.full(self.n_workers, np.nan), where=load > 0)

    def whole(self, posterior: Floats, prior: Floats) -> Floats:
        """(n_tasks, n_labels): open tasks as given, known ones as known, those without a vote at the prior."""
        if len(self.open) == self.votes.n_tasks:
            return posterior
        full = np.repeat(prior[None] / prior.sum(), self.votes.n_tasks, 0)
        full[self.open] = posterior
        if self.gold is not None:
            full[self.gold_place] = self.gold.prob
        return full

    # ---- the M-step

    def log_shares(self, counts: Floats, pseudo: Floats) -> Floats:
        """The table of log p(said | true) of every worker, `pseudo` (said, true) added to each one's counts."""
        table = np.zeros(self.n_cells + PAD)
        self._by_worker(lambda first, last: confusion.log_shares(first, last, counts, pseudo, table))
        return table

    def renormalise(self, table: Floats) -> Floats:
        """The table with the shares of what is said summing to one for each worker and true label; changed in place."""
        self._by_worker(lambda first, last: confusion.renormalise(first, last, self.n_labels, table))
        return table

    def _by_worker(self, work: Callable[[int, int], None]) -> None:
        step = max(1, PIECE // self.n_labels**2)
        run(lambda i: work(i * step, min((i + 1) * step, self.n_workers)), -(-self.n_workers // step))

    def tensor(self, flat: Floats) -> Floats:
        """(n_workers, said, true) a flat table without its spare cells."""
        return flat[: self.n_cells].reshape(self.n_workers, self.n_labels, self.n_labels)
