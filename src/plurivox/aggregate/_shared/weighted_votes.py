"""Votes weighted by worker, shared by wawa, iwmv, zero-based-skill, plantnet and two-third."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.aggregate._shared.vote_counts import fill_unvoted
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, Candidates
from plurivox.core.soft_transforms import dense_if_small
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes

TIE_TOLERANCE = 1e-9  # sums of weights within this of the maximum are tied


@dataclass(frozen=True)
class WeightedVotes:
    """Votes grouped into cells; a cell is a pair of a task and a label with at least one vote."""

    votes: Votes
    cell: Ints  # (n_rows,) the cell of each row of the votes
    task: Ints  # (n_cells,) non-decreasing
    label: Ints  # (n_cells,) increasing within a task
    start: Ints  # (n_tasks + 1,) the cells of task t are start[t]:start[t + 1]

    @classmethod
    def of(cls, votes: Votes) -> "WeightedVotes":
        """Group votes into cells, numbered by task, then label."""
        key = votes.task.astype(np.int64) * votes.n_labels + votes.label
        if votes.n_tasks * votes.n_labels > DENSE_CELLS:
            keys, cell = np.unique(key, return_inverse=True)
        else:  # no need to sort: mark the keys that occur and number them
            occurs = np.zeros(votes.n_tasks * votes.n_labels, bool)
            occurs[key] = True
            keys, cell = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]
        task, label = np.divmod(keys, votes.n_labels)
        return cls(votes, cell, task, label, np.searchsorted(task, np.arange(votes.n_tasks + 1)))

    @cached_property
    def counts(self) -> Floats:
        """(n_cells,) the number of votes in each cell, with equal worker weights."""
        return np.bincount(self.cell, self.votes.weight, minlength=len(self.label)).astype(np.float64)

    def weighted_counts(self, weight: Floats) -> Floats:
        """(n_cells,) the votes in each cell, each counted with its worker's `weight` (n_workers,)."""
        vote_weight: Floats = self.votes.weights * weight[self.votes.worker]
        return np.bincount(self.cell, vote_weight, minlength=len(self.label)).astype(np.float64, copy=False)

    def task_shares(self, sums: Floats) -> Candidates:
        """Return the share of each label in its task, in proportion to `sums` (n_cells,); negative sums get no share.

        If no label of a task has a positive sum, the sums of all labels (0 for labels without votes) are shifted so that the
        smallest is 0; if all are 0 then, the unweighted votes decide.
        """
        negative = len(sums) and sums.min() < 0
        mass, rest = self._shift_negative(sums) if negative else (sums, np.zeros(self.votes.n_tasks))
        total = np.bincount(self.task, mass, minlength=self.votes.n_tasks) + rest
        no_mass = total <= TIE_TOLERANCE
        mass = np.where(no_mass[self.task], self.counts, mass)
        total = np.where(no_mass, self.votes.support, total)
        share = mass / np.where(total > 0, total, 1)[self.task]
        rest = np.where(total > 0, np.where(no_mass, 0, rest) / np.where(total > 0, total, 1), 1.0)
        return Candidates(self.start, self.label, share, rest, self.votes.n_labels)

    def _shift_negative(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return ((n_cells,) sums, (n_tasks,) total of labels without votes) after the shift described in `task_shares`."""
        lowest, best = np.zeros(self.votes.n_tasks), self._max_per_task(sums)
        np.minimum.at(lowest, self.task, sums)
        shift = np.where(best > TIE_TOLERANCE, 0.0, -lowest)  # (n_tasks,)
        others = self.votes.n_labels - np.diff(self.start)
        return np.maximum(sums + shift[self.task], 0), shift * others

    def _max_per_task(self, mass: Floats) -> Floats:
        """(n_tasks,) the largest value of `mass` (n_cells,) in each task; -inf for tasks without votes."""
        best = np.full(self.votes.n_tasks, -np.inf)
        voted = np.diff(self.start) > 0
        if voted.any():
            best[voted] = np.maximum.reduceat(mass, self.start[:-1][voted])
        return best

    def is_top(self, shares: Candidates) -> Bools:
        """(n_cells,) whether the cell has the largest share in its task, ties included."""
        return np.asarray(shares.mass >= self._max_per_task(shares.mass)[self.task] - TIE_TOLERANCE)

    def top_labels(self, shares: Candidates) -> Ints:
        """(n_tasks,) the label with the largest share, the first if tied; 0 for tasks without votes."""
        top = np.flatnonzero(self.is_top(shares))
        label = np.zeros(self.votes.n_tasks, np.int64)
        label[self.task[top[::-1]]] = self.label[top[::-1]]  # in reverse, so that the first is written last
        unchosen = np.flatnonzero(
            (shares.unlisted_mass > self._max_per_task(shares.mass) + TIE_TOLERANCE) & (np.diff(self.start) > 0)
        )
        if len(unchosen):  # a label without votes wins if all others have negative sums
            label[unchosen] = shares.take(unchosen).top(1)[0][:, 0]
        return label

    def count_ties(self, shares: Candidates) -> int:
        """Return the number of tasks in which several labels have the largest share."""
        return int((np.bincount(self.task[self.is_top(shares)], minlength=self.votes.n_tasks) > 1).sum())

    def agreement(self, label: Ints) -> Floats:
        """(n_workers,) the share of a worker's votes that equal `label` (n_tasks,) of their task; nan without votes."""
        agrees = self.votes.weights * (self.votes.label == label[self.votes.task])
        agreed = np.bincount(self.votes.worker, agrees, minlength=self.votes.n_workers)
        load = self.votes.workload
        return np.divide(agreed, load, out=np.full(len(load), np.nan), where=load > 0)

    def soft_labels(self, shares: Candidates) -> SoftLabels:
        """Return the shares as soft labels; a task without votes gets the shares of all votes."""
        return fill_unvoted(self.votes, dense_if_small(shares))
