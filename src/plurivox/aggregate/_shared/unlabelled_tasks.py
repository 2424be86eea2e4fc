"""The tasks whose labels are to be found, laid out for kernels; known and silent tasks stand aside."""

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes


class OpenTasks:
    """The tasks of votes that are open (their label is not known) and have a vote, in their order.

    A task without a vote says nothing about anybody, and what a known task says never changes: neither needs to be
    passed over again and again. `whole` puts them back in their places.
    """

    open: Ints  # (n_open,) codes of the open tasks
    start: Ints  # (n_open + 1,) where the rows of each begin
    gold: SoftLabels | None  # known labels of tasks that are here, over the labels of the votes
    gold_place: Ints  # (n_known,) their codes, increasing

    def __init__(self, votes: Votes, gold: SoftLabels | None = None) -> None:
        self.votes, self.n_labels, self.n_workers = votes, votes.n_labels, votes.n_workers
        self.gold = None if gold is None else gold.shared(votes.tasks).on_labels(votes.labels)
        self.gold_place = np.zeros(0, np.int64) if self.gold is None else positions(votes.tasks, self.gold.tasks)
        self._size = np.diff(votes.start)
        self.is_open = self._size > 0
        self.is_open[self.gold_place] = False
        self.open = np.flatnonzero(self.is_open)
        self.start = self.starts(self.is_open)
        _ = votes.workload, votes.support  # both are wanted in the end; counted now, while little else is in memory

    def starts(self, tasks: Bools) -> Ints:
        """(n + 1,) where the rows of these tasks begin when theirs are the only rows."""
        return np.concatenate([[0], np.cumsum(self._size[tasks])])

    def rows(self, tasks: Bools) -> Bools | slice:
        """Which rows of the votes belong to these tasks."""
        every = int(self._size[tasks].sum()) == len(self.votes)
        return slice(None) if every else tasks[self.votes.task]

    @property
    def is_known(self) -> Bools:
        """(n_tasks,) whether the label is known."""
        known = np.zeros(self.votes.n_tasks, bool)
        known[self.gold_place] = True
        return known

    def weight(self, rows: Bools | slice) -> Floats | None:
        """The weights of some rows, None where all votes are plain."""
        weight = self.votes.weight
        return None if weight is None else np.ascontiguousarray(weight[rows], np.float64)

    def vote_shares(self) -> Floats:
        """(n_open, n_labels) the share of a task's votes that each label got."""
        counts = self.votes.counts()[self.open]
        total = counts.sum(1, keepdims=True)
        return np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / self.n_labels)

    def first_guess(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) what an earlier fit believed of each task, else its vote shares."""
        guess = self.vote_shares()
        if start is not None:
            names = self.votes.tasks[self.open]
            seen = np.flatnonzero(positions(start.soft.tasks, names) >= 0)
            guess[seen] = start.soft.on(names[seen]).on_labels(self.votes.labels).prob
        return guess

    def whole(self, posterior: Floats, prior: Floats) -> Floats:
        """(n_tasks, n_labels): open tasks as given, known ones as known, those without a vote at the prior."""
        if len(self.open) == self.votes.n_tasks:
            return posterior
        full = np.repeat(prior[None] / prior.sum(), self.votes.n_tasks, 0)
        full[self.open] = posterior
        if self.gold is not None:
            full[self.gold_place] = self.gold.prob
        return full

    def shared_with(self, agreed: Floats) -> Floats:
        """(n_workers,) sums of agreeing answers as shares of all that each gave; nan for who gave none."""
        load = self.votes.workload
        return np.divide(agreed, load, out=np.full(len(load), np.nan), where=load > 0)
