"""Vote shares with a weight per worker, shared by wawa, iwmv, zero-based-skill, plantnet and two-third."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.aggregate._shared.vote_share_helpers import soft_labels_unvoted_get_overall_shares
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, Candidates
from plurivox.core.soft_transforms import dense_if_small
from plurivox.core.votes import Votes

TIE_TOLERANCE = 1e-9  # sums of weights within this of the maximum are tied


@dataclass(frozen=True)
class WeightedVotes:
    """Votes grouped by pairs of task and label (pairs with votes only), to sum worker weights for each pair."""

    votes: Votes
    pair: Ints  # (n_rows,) the pair of each row of the votes
    task: Ints  # (n_pairs,) non-decreasing
    label: Ints  # (n_pairs,) increasing within a task
    start: Ints  # (n_tasks + 1,) the pairs of task t are start[t]:start[t + 1]

    @classmethod
    def group_by_task_and_label(cls, votes: Votes) -> "WeightedVotes":
        """Return votes grouped by pairs of task and label; the pairs are numbered by task, then label."""
        key = votes.task.astype(np.int64) * votes.n_labels + votes.label
        if votes.n_tasks * votes.n_labels > DENSE_CELLS:
            keys, pair = np.unique(key, return_inverse=True)
        else:  # no need to sort: mark the keys that occur and number them
            occurs = np.zeros(votes.n_tasks * votes.n_labels, bool)
            occurs[key] = True
            keys, pair = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[key]
        task, label = np.divmod(keys, votes.n_labels)
        return cls(votes, pair, task, label, np.searchsorted(task, np.arange(votes.n_tasks + 1)))

    @cached_property
    def vote_weight_per_task_label_pair(self) -> Floats:
        """(n_pairs,) the sum of vote weights for each pair of task and label, every worker counting the same."""
        return np.bincount(self.pair, self.votes.weight, minlength=len(self.label)).astype(np.float64)

    def worker_weighted_sum_per_task_label_pair(self, worker_weight: Floats) -> Floats:
        """(n_pairs,) the sum of votes for each pair of task and label, each vote times its worker's weight (n_workers,)."""
        vote_weight: Floats = self.votes.weights * worker_weight[self.votes.worker]
        return np.bincount(self.pair, vote_weight, minlength=len(self.label)).astype(np.float64, copy=False)

    def label_shares_by_task(self, task_label_pair_sums: Floats) -> Candidates:
        """Return the label shares of each task, proportional to `task_label_pair_sums`; 0 for negative sums.

        If no label of a task has a positive sum, the sums of all labels (0 for labels without votes) are shifted so that the
        smallest is 0; if all are 0 then, the unweighted votes decide.
        """
        negative = len(task_label_pair_sums) and task_label_pair_sums.min() < 0
        mass, rest = (
            self._nonnegative_pair_and_unvoted_sums(task_label_pair_sums)
            if negative
            else (task_label_pair_sums, np.zeros(self.votes.n_tasks))
        )
        total = np.bincount(self.task, mass, minlength=self.votes.n_tasks) + rest
        no_mass = total <= TIE_TOLERANCE
        mass = np.where(no_mass[self.task], self.vote_weight_per_task_label_pair, mass)
        total = np.where(no_mass, self.votes.support, total)
        share = mass / np.where(total > 0, total, 1)[self.task]
        rest = np.where(total > 0, np.where(no_mass, 0, rest) / np.where(total > 0, total, 1), 1.0)
        return Candidates(self.start, self.label, share, rest, self.votes.n_labels)

    def _nonnegative_pair_and_unvoted_sums(self, task_label_pair_sums: Floats) -> tuple[Floats, Floats]:
        """Return ((n_pairs,) sums per task and label, shifted to 0 or more, (n_tasks,) resulting sums of unvoted labels)."""
        lowest, best = np.zeros(self.votes.n_tasks), self._largest_value_per_task(task_label_pair_sums)
        np.minimum.at(lowest, self.task, task_label_pair_sums)
        shift = np.where(best > TIE_TOLERANCE, 0.0, -lowest)  # (n_tasks,)
        others = self.votes.n_labels - np.diff(self.start)
        return np.maximum(task_label_pair_sums + shift[self.task], 0), shift * others

    def _largest_value_per_task(self, task_label_pair_values: Floats) -> Floats:
        """(n_tasks,) the largest of the `task_label_pair_values` of each task; -inf without votes."""
        best = np.full(self.votes.n_tasks, -np.inf)
        voted = np.diff(self.start) > 0
        if voted.any():
            best[voted] = np.maximum.reduceat(task_label_pair_values, self.start[:-1][voted])
        return best

    def is_top_label_per_task_label_pair(self, shares: Candidates) -> Bools:
        """(n_pairs,) for each pair of task and label, whether the label has the largest share in the task, ties included."""
        return np.asarray(shares.mass >= self._largest_value_per_task(shares.mass)[self.task] - TIE_TOLERANCE)

    def top_label_per_task(self, shares: Candidates) -> Ints:
        """(n_tasks,) code of the label with the largest share in each task, the first if tied; 0 for tasks without votes."""
        top = np.flatnonzero(self.is_top_label_per_task_label_pair(shares))
        label = np.zeros(self.votes.n_tasks, np.int64)
        label[self.task[top[::-1]]] = self.label[top[::-1]]  # in reverse, so that the first is written last
        unchosen = np.flatnonzero(
            (shares.prob_of_each_unlisted_label > self._largest_value_per_task(shares.mass) + TIE_TOLERANCE)
            & (np.diff(self.start) > 0)
        )
        if len(unchosen):  # a label without votes wins if all others have negative sums
            label[unchosen] = shares.take(unchosen).top_label_codes_and_probs(1)[0][:, 0]
        return label

    def count_tied_tasks(self, shares: Candidates) -> int:
        """Return the number of tasks in which several labels are tied for the largest share."""
        return int(
            (
                np.bincount(self.task[self.is_top_label_per_task_label_pair(shares)], minlength=self.votes.n_tasks) > 1
            ).sum()
        )

    def shared_agreement_per_task_label_pair(self, shares: Candidates) -> Floats:
        """(n_pairs,) the agreement of a vote with the top label of its task: 1/n for each of n tied labels, else 0."""
        top = self.is_top_label_per_task_label_pair(shares)
        n_top = np.bincount(self.task[top], minlength=self.votes.n_tasks)
        return np.asarray(top / np.maximum(n_top, 1)[self.task])

    def share_of_votes_agreeing_per_worker(self, task_labels: Ints) -> Floats:
        """(n_workers,) the share of each worker's votes that equal the task's label in `task_labels`; nan without votes."""
        return self.mean_agreement_per_worker((self.label == task_labels[self.task]).astype(np.float64))

    def mean_agreement_per_worker(self, agreement: Floats, pool: float = 0.0) -> Floats:
        """(n_workers,) the mean `agreement` (n_pairs,) of each worker's votes, by task and label; nan without votes.

        `pool` votes with the mean agreement of all votes are added to those of each worker.
        """
        agreed = np.bincount(
            self.votes.worker, self.votes.weights * agreement[self.pair], minlength=self.votes.n_workers
        )
        load = self.votes.n_answers_per_worker
        mean = agreed.sum() / max(load.sum(), 1)
        return np.divide(agreed + pool * mean, load + pool, out=np.full(len(load), np.nan), where=load > 0)

    def shares_to_soft_labels(self, shares: Candidates) -> SoftLabels:
        """Return label shares per task as soft labels; if dense, a task without votes gets the label shares of all votes."""
        return soft_labels_unvoted_get_overall_shares(self.votes, dense_if_small(shares))
