"""What the methods that weigh workers share: every vote counts as much as its worker's weight."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.aggregate._shared.vote_counts import fill_unseen
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import DENSE_CELLS, Candidates
from plurivox.core.soft_transforms import dense_if_small
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes

CLOSE = 1e-9  # weights are sums of fractions: this near the top counts as a tie


@dataclass(frozen=True)
class WeightedVotes:
    """The votes as cells; a cell is a task and one of the labels that somebody gave it."""

    votes: Votes
    cell: Ints  # (n_rows,) the cell of each row of the votes
    task: Ints  # (n_cells,) non-decreasing
    label: Ints  # (n_cells,) increasing within a task
    start: Ints  # (n_tasks + 1,) the cells of task t are start[t]:start[t + 1]

    @classmethod
    def of(cls, votes: Votes) -> "WeightedVotes":
        """Number the cells of the votes in the order of tasks, then labels."""
        key = votes.task.astype(np.int64) * votes.n_labels + votes.label
        if votes.n_tasks * votes.n_labels > DENSE_CELLS:
            keys, cell = np.unique(key, return_inverse=True)
        else:  # no need to sort: mark the keys that occur and count them through
            seen = np.zeros(votes.n_tasks * votes.n_labels, bool)
            seen[key] = True
            keys, cell = np.flatnonzero(seen), (np.cumsum(seen) - 1)[key]
        task, label = np.divmod(keys, votes.n_labels)
        return cls(votes, cell, task, label, np.searchsorted(task, np.arange(votes.n_tasks + 1)))

    @cached_property
    def counts(self) -> Floats:
        """(n_cells,) the votes of each label of a task, everybody's alike."""
        return np.bincount(self.cell, self.votes.weight, minlength=len(self.label)).astype(np.float64)

    def sums(self, weight: Floats) -> Floats:
        """(n_cells,) the same when the votes of worker w weigh `weight[w]`."""
        heavy: Floats = self.votes.weights * weight[self.votes.worker]
        return np.bincount(self.cell, heavy, minlength=len(self.label)).astype(np.float64, copy=False)

    def split(self, sums: Floats) -> Candidates:
        """Each task's mass split over its labels in proportion to their sums; a sum below zero gets nothing.

        Where no label of a task has a sum above zero, all labels (one that nobody chose stands at 0) are lifted until
        the lowest stands at 0; where that leaves nothing either, the plain votes decide.
        """
        negative = len(sums) and sums.min() < 0
        mass, rest = self._lifted(sums) if negative else (sums, np.zeros(self.votes.n_tasks))
        total = np.bincount(self.task, mass, minlength=self.votes.n_tasks) + rest
        bare = total <= CLOSE
        mass = np.where(bare[self.task], self.counts, mass)
        total = np.where(bare, self.votes.support, total)
        share = mass / np.where(total > 0, total, 1)[self.task]
        rest = np.where(total > 0, np.where(bare, 0, rest) / np.where(total > 0, total, 1), 1.0)
        return Candidates(self.start, self.label, share, rest, self.votes.n_labels)

    def _lifted(self, sums: Floats) -> tuple[Floats, Floats]:
        lowest, best = np.zeros(self.votes.n_tasks), self._best(sums)
        np.minimum.at(lowest, self.task, sums)
        lift = np.where(best > CLOSE, 0.0, -lowest)  # (n_tasks,)
        others = self.votes.n_labels - np.diff(self.start)
        return np.maximum(sums + lift[self.task], 0), lift * others

    def _best(self, mass: Floats) -> Floats:
        """(n_tasks,) the largest mass of a task; -inf where nobody voted."""
        best = np.full(self.votes.n_tasks, -np.inf)
        voted = np.diff(self.start) > 0
        if voted.any():
            best[voted] = np.maximum.reduceat(mass, self.start[:-1][voted])
        return best

    def leading(self, split: Candidates) -> Bools:
        """(n_cells,) whether no label of the task has more."""
        return np.asarray(split.mass >= self._best(split.mass)[self.task] - CLOSE)

    def winners(self, split: Candidates) -> Ints:
        """(n_tasks,) the label with the most, the first of them where some tie; 0 where nobody voted."""
        lead = np.flatnonzero(self.leading(split))
        label = np.zeros(self.votes.n_tasks, np.int64)
        label[self.task[lead[::-1]]] = self.label[lead[::-1]]  # backwards, so that the first is written last
        beyond = np.flatnonzero((split.unlisted_mass > self._best(split.mass) + CLOSE) & (np.diff(self.start) > 0))
        if len(beyond):  # a label that nobody chose, since all that were chosen speak against themselves
            label[beyond] = split.take(beyond).top(1)[0][:, 0]
        return label

    def ties(self, split: Candidates) -> int:
        """How many tasks have more than one label in the lead."""
        return int((np.bincount(self.task[self.leading(split)], minlength=self.votes.n_tasks) > 1).sum())

    def agreement(self, label: Ints) -> Floats:
        """(n_workers,) the share of a worker's votes that named `label` of their task; nan for who never voted."""
        agrees = self.votes.weights * (self.votes.label == label[self.votes.task])
        agreed = np.bincount(self.votes.worker, agrees, minlength=self.votes.n_workers)
        load = self.votes.workload
        return np.divide(agreed, load, out=np.full(len(load), np.nan), where=load > 0)

    def soft(self, split: Candidates) -> SoftLabels:
        """The split as soft labels; a task nobody voted on gets the prior."""
        return fill_unseen(self.votes, dense_if_small(split))
