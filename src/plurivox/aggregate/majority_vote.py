"""Majority vote: the label with the most votes in each task."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares, soft_labels_unvoted_get_overall_shares
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, Candidates, Dense
from plurivox.core.votes import Votes

FEW_LABELS = 256  # up to this many labels, a loop over labels is fastest
TIE_TOLERANCE = 1e-9  # sums of weights within this of the maximum are tied


@dataclass(frozen=True)
class MajorityVote(Aggregator):
    """Majority vote: probability 1 on the label with the most votes.

    p(k | task) = 1 for the label k with the largest sum of vote weights. Ties go to the `first` tied label in the order of the
    labels, to a `random` one, or all tied labels get an equal `share`. `found["ties"]` is the number of tied tasks.

    Snow et al. (2008), https://doi.org/10.3115/1613715.1613751

    >>> votes = Votes.of(task=["a", "a", "b"], worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> fit = MajorityVote(ties="share").fit(votes)
    >>> fit.soft.prob, fit.found
    (array([[0.5, 0.5],
           [0. , 1. ]]), {'ties': 1})
    """

    ties: Literal["first", "random", "share"] = option(
        "first", "label of a tied task: the first tied label, a random one, or equal shares of all"
    )
    seed: int = option(0, "random seed, for ties=random", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    estimates: ClassVar[Estimand] = "truth"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        few = votes.n_labels <= FEW_LABELS and votes.n_tasks * votes.n_labels <= DENSE_CELLS
        body, n_tied = (
            self._majority_labels_and_tie_count_dense(votes)
            if few
            else self._majority_labels_and_tie_count_sparse(votes.sparse_vote_counts())
        )
        return Fit(
            soft_labels_unvoted_get_overall_shares(votes, body),
            votes.workers,
            self.spec,
            prior=overall_vote_shares(votes),
            found={"ties": n_tied},
        )

    def _majority_labels_and_tie_count_dense(self, votes: Votes) -> tuple[Dense | Candidates, int]:
        """Return (soft labels with probability 1 on the majority label, number of ties), for few labels, by a dense table."""
        counts = _sum_weights_by_label_and_task(votes)  # (n_labels, n_tasks)
        best = counts.max(0)
        near = best if votes.weight is None else best - TIE_TOLERANCE * np.maximum(best, 1)
        label, n_winners = np.zeros(votes.n_tasks, votes.label.dtype), np.zeros(votes.n_tasks, np.int16)
        for k in reversed(range(votes.n_labels)):
            wins = counts[k] >= near
            n_winners += wins
            np.copyto(label, k, where=wins)
        tied = (n_winners > 1) & (best > 0)
        n_tied = int(np.count_nonzero(tied))
        if self.ties == "share":
            return Dense((counts >= near).T / n_winners[:, None]), n_tied
        if self.ties == "random" and n_tied:
            nth = np.cumsum(counts[:, tied] >= near[tied], axis=0)
            label[tied] = np.argmax(nth == self._draw_winner_position_among_tied(n_winners[tied]) + 1, axis=0)
        if not best.all():  # tasks without votes get the overall shares later
            return Dense(np.eye(votes.n_labels)[label]), n_tied
        rows = np.arange(votes.n_tasks + 1)
        return Candidates(rows, label, np.ones(votes.n_tasks), np.zeros(votes.n_tasks), votes.n_labels), n_tied

    def _majority_labels_and_tie_count_sparse(self, tally: Candidates) -> tuple[Candidates, int]:
        """Return (soft labels with probability 1 on the majority label, number of ties), for many labels, by a sparse tally."""
        best = np.zeros(len(tally))
        np.maximum.at(best, tally.row_of_each_candidate, tally.mass)
        winner: Bools = tally.mass >= best[tally.row_of_each_candidate] - TIE_TOLERANCE * np.maximum(
            best[tally.row_of_each_candidate], 1
        )
        n_winners = np.bincount(tally.row_of_each_candidate[winner], minlength=len(tally))
        mass: Floats = winner / np.maximum(n_winners, 1)[tally.row_of_each_candidate]
        if self.ties != "share":
            before: Ints = np.cumsum(winner) - winner  # winners before this candidate, over all rows
            first = np.cumsum(n_winners) - n_winners
            place = (
                self._draw_winner_position_among_tied(n_winners)
                if self.ties == "random"
                else np.zeros(len(tally), np.int64)
            )
            mass = (
                winner & (before - first[tally.row_of_each_candidate] == place[tally.row_of_each_candidate])
            ).astype(np.float64)
        body = replace(tally, mass=mass, rest=np.where(n_winners > 0, 0.0, 1.0))
        return body, int((n_winners > 1).sum())

    def _draw_winner_position_among_tied(self, n_tied_labels: Ints) -> Ints:
        """(n_tasks,) for each task, a random number below its number of tied labels: the one that wins; 0 without a tie."""
        place = np.zeros(len(n_tied_labels), np.int64)
        tied = n_tied_labels > 1
        place[tied] = np.random.default_rng(self.seed).integers(0, n_tied_labels[tied])
        return place


def _sum_weights_by_label_and_task(votes: Votes) -> NDArray[Any]:
    """(n_labels, n_tasks) the sum of vote weights; plain votes are counted in the smallest integer type that can hold them."""
    key = votes.label.astype(np.int64)
    key *= votes.n_tasks
    key += votes.task
    counts = np.bincount(key, votes.weight, minlength=votes.n_labels * votes.n_tasks)
    if votes.weight is None:
        counts = counts.astype(np.min_scalar_type(int(votes.support.max(initial=0))))
    return counts.reshape(votes.n_labels, votes.n_tasks)
