"""Pl@ntNet's aggregation rule: a worker's weight grows with the number of labels they have identified."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.progress_callbacks import AtMost, Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates
from plurivox.core.votes import Votes

BASE_WEIGHT = float(np.log(2.1))  # of a worker who has identified no label; three of them exceed a weight of 2


@dataclass(frozen=True)
class PlantNet(Aggregator):
    """Weighted vote shares; a worker's weight grows with the number of different labels they have identified.

    Start from a majority vote with all weights log 2.1. In each round, until no weight changes:
    w_j = n_j^alpha - n_j^beta + log 2.1, where n_j is the number of different labels worker j has identified, and each task
    takes the label with the largest sum of weights. A task is valid if that sum exceeds `min_weight`, and exceeds `min_share`
    of the weight of all its votes.

    A worker has identified a label if they voted for it on a valid task with that label. If the authors of tasks are known
    (`authors=earliest`: the worker of the earliest vote), only labels identified on the worker's own tasks count 1 each; other
    labels that the worker voted for on tasks with that label count `vote_worth` each, and the sum of these is rounded. Experts
    have a fixed weight, by default larger than that of a worker with 10,000 labels, so one
    expert outweighs the other workers unless they are many.

    p(k | task) is the share of label k in the weight of the votes. `found["undecided"]` is the number of tasks that are not
    valid, `found["decided"]` a boolean per task. The ability is w_j. Ties go to the first label.

    Lefort et al. (2024), https://doi.org/10.48550/arXiv.2406.03356

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["ash", "ash", "elm", "elm", "elm", "elm"])
    >>> fit = PlantNet(experts="3").fit(votes)
    >>> fit.soft.hard().tolist(), fit.ability.round(2), fit.found["decided"]
    (['elm', 'elm'], array([  0.74,   0.74, 100.  ]), array([ True,  True]))
    """

    alpha: float = option(0.5, "exponent by which weights grow with the number of labels identified", low=0, high=1)
    beta: float = option(0.2, "exponent of the term that is subtracted from a worker's weight", low=0, high=1)
    min_weight: float = option(
        2.0, "a task is valid if the summed weight of the votes for its label exceeds this", low=0
    )
    min_share: float = option(
        0.7, "a task is valid if its label has more than this share of the weight of its votes", low=0, high=1
    )
    authors: Literal["unknown", "earliest"] = option(
        "unknown", "author of a task: unknown, or the worker of its earliest vote"
    )
    vote_worth: float = option(
        0.1, "count of a label identified on a task of another author, with authors=earliest", low=0
    )
    experts: str = option("", "comma-separated names of workers who are experts")
    expert_weight: float = option(100.0, "fixed weight of each worker who is an expert", low=0)
    max_iter: int = option(100, "maximum number of rounds that update the worker weights", low=1)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    estimates: ClassVar[Estimand] = "truth"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        weighted, own, expert = (
            WeightedVotes.group_by_task_and_label(votes),
            self._is_vote_by_task_author(votes),
            self._is_worker_expert(votes),
        )
        weight = np.where(expert, self.expert_weight, BASE_WEIGHT)
        shares = weighted.label_shares_by_task(weighted.worker_weighted_sum_per_task_label_pair(weight))
        converged = False
        for step in range(self.max_iter):
            number = self._weighted_count_of_identified_labels(
                weighted, own, shares, self._is_top_label_above_min_weight_and_share(weighted, shares, weight)
            )
            last, weight = (
                weight,
                np.where(expert, self.expert_weight, number**self.alpha - number**self.beta + BASE_WEIGHT),
            )
            changed = int((last != weight).sum())
            progress(step, AtMost(self.max_iter), changed)
            if converged := changed == 0:
                break
            shares = weighted.label_shares_by_task(weighted.worker_weighted_sum_per_task_label_pair(weight))
        valid = self._is_top_label_above_min_weight_and_share(weighted, shares, weight)
        found = {"rounds": step + 1, "undecided": int((~valid).sum()), "decided": valid}
        soft = weighted.shares_to_soft_labels(shares)
        return Fit(
            soft, votes.workers, self.spec, overall_vote_shares(votes), ability=weight, converged=converged, found=found
        )

    def _is_top_label_above_min_weight_and_share(
        self, weighted: WeightedVotes, shares: Candidates, worker_weight: Floats
    ) -> Bools:
        """(n_tasks,) whether the weight of the task's top label exceeds `min_weight`, and its share `min_share`."""
        total = np.bincount(
            weighted.task,
            weighted.worker_weighted_sum_per_task_label_pair(worker_weight),
            minlength=weighted.votes.n_tasks,
        )
        share = np.zeros(weighted.votes.n_tasks)
        np.maximum.at(share, weighted.task, shares.mass)
        return np.asarray((share * total > self.min_weight) & (share > self.min_share))

    def _weighted_count_of_identified_labels(
        self, weighted: WeightedVotes, is_vote_on_own_task: Bools, shares: Candidates, is_task_valid: Bools
    ) -> Floats:
        """(n_workers,) the number of labels that each worker has identified; with known authors, others' tasks count less."""
        votes, winner = weighted.votes, weighted.top_label_per_task(shares)
        right = (votes.label == winner[votes.task]) & (votes.weights > 0)
        pair = votes.worker.astype(np.int64) * votes.n_labels + votes.label  # worker and label in one integer
        identified = np.unique(pair[right & is_vote_on_own_task & is_task_valid[votes.task]])
        number = np.bincount(identified // votes.n_labels, minlength=votes.n_workers).astype(np.float64)
        if self.authors == "unknown":
            return number
        further = np.setdiff1d(pair[right], identified)
        return number + np.round(self.vote_worth * np.bincount(further // votes.n_labels, minlength=votes.n_workers))

    def _is_vote_by_task_author(self, votes: Votes) -> Bools:
        """(n_rows,) whether each vote is by its task's author, True if authors=unknown; raise InputError without times."""
        if self.authors == "unknown":
            return np.ones(len(votes), bool)
        if votes.when is None or np.isnan(votes.when).any():
            raise InputError("plantnet needs the times of all votes for authors=earliest; use authors=unknown")
        order = np.lexsort((votes.worker, votes.when, votes.task))
        first = order[votes.row_offsets_by_task[:-1][np.diff(votes.row_offsets_by_task) > 0]]  # (n_tasks_with_votes,)
        author = np.full(votes.n_tasks, -1)
        author[votes.task[first]] = votes.worker[first]
        return np.asarray(votes.worker == author[votes.task])

    def _is_worker_expert(self, votes: Votes) -> Bools:
        """(n_workers,) whether the worker is an expert; raise InputError for an expert who is not among the workers."""
        names = as_names(split_at_commas_outside_brackets(self.experts), "experts")
        place: Ints = positions(votes.workers, names)
        if len(absent := names[place < 0]):
            raise InputError(f"experts that are not among the workers: {first_few(absent)}; check their names")
        expert = np.zeros(votes.n_workers, bool)
        expert[place] = True
        return expert
