"""Majority vote, with ties by a stated rule."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_counts import fill_unseen, prior
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import DENSE_CELLS, Candidates, Dense
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes

FEW_LABELS = 256  # up to here it pays to look at one label after the other
CLOSE = 1e-9  # weights of soft answers are sums of fractions: this near the top counts as a tie


@dataclass(frozen=True)
class MajorityVote(Aggregator):
    """All mass on the label with the most votes.

    p(k | task) = 1 for the k with the largest weight of votes. Ties go to the `first` label in the order of the labels,
    to one of the tied drawn at `random` by the seed, or every tied label gets an equal `share`. It counts them.

    Snow et al. (2008), https://doi.org/10.3115/1613715.1613751

    >>> votes = Votes.of(task=["a", "a", "b"], worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> fit = MajorityVote(ties="share").fit(votes)
    >>> fit.soft.prob, fit.found
    (array([[0.5, 0.5],
           [0. , 1. ]]), {'ties': 1})
    """

    ties: Literal["first", "random", "share"] = option(
        "first", "who wins a tie: the first label, a random one, or all of them"
    )
    seed: int = option(0, "chooses among tied labels where ties are random", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        few = votes.n_labels <= FEW_LABELS and votes.n_tasks * votes.n_labels <= DENSE_CELLS
        body, n_tied = self._of_table(votes) if few else self._of_tally(votes.tally())
        return Fit(fill_unseen(votes, body), votes.workers, self.spec, prior=prior(votes), found={"ties": n_tied})

    def _of_table(self, votes: Votes) -> tuple[Dense | Candidates, int]:
        """Few labels: one label after the other, all tasks at once."""
        counts = _by_label(votes)  # (n_labels, n_tasks)
        best = counts.max(0)
        near = best if votes.weight is None else best - CLOSE * np.maximum(best, 1)
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
            label[tied] = np.argmax(nth == self._places(n_winners[tied]) + 1, axis=0)
        if not best.all():  # tasks without a vote get a row of numbers later
            return Dense(np.eye(votes.n_labels)[label]), n_tied
        rows = np.arange(votes.n_tasks + 1)
        return Candidates(rows, label, np.ones(votes.n_tasks), np.zeros(votes.n_tasks), votes.n_labels), n_tied

    def _of_tally(self, tally: Candidates) -> tuple[Candidates, int]:
        """The same where a table of every number would not fit."""
        best = np.zeros(len(tally))
        np.maximum.at(best, tally.row, tally.mass)
        winner: Bools = tally.mass >= best[tally.row] - CLOSE * np.maximum(best[tally.row], 1)
        n_winners = np.bincount(tally.row[winner], minlength=len(tally))
        mass: Floats = winner / np.maximum(n_winners, 1)[tally.row]
        if self.ties != "share":
            before: Ints = np.cumsum(winner) - winner  # winners before this candidate, over all rows
            first = np.cumsum(n_winners) - n_winners
            place = self._places(n_winners) if self.ties == "random" else np.zeros(len(tally), np.int64)
            mass = (winner & (before - first[tally.row] == place[tally.row])).astype(np.float64)
        body = replace(tally, mass=mass, rest=np.where(n_winners > 0, 0.0, 1.0))
        return body, int((n_winners > 1).sum())

    def _places(self, n_winners: Ints) -> Ints:
        """(n_tasks,) which of its tied labels each task takes, drawn by the seed; 0 where there is no tie."""
        place = np.zeros(len(n_winners), np.int64)
        tied = n_winners > 1
        place[tied] = np.random.default_rng(self.seed).integers(0, n_winners[tied])
        return place


def _by_label(votes: Votes) -> NDArray[Any]:
    """(n_labels, n_tasks) the weight of each label, plain votes in the smallest type that counts them."""
    key = votes.label.astype(np.int64)
    key *= votes.n_tasks
    key += votes.task
    counts = np.bincount(key, votes.weight, minlength=votes.n_labels * votes.n_tasks)
    if votes.weight is None:
        counts = counts.astype(np.min_scalar_type(int(votes.support.max(initial=0))))
    return counts.reshape(votes.n_labels, votes.n_tasks)
