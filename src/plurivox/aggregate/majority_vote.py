"""Majority vote, with ties by a stated rule."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._counting import believed, prior
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.names import Bools, Floats, Ints
from plurivox.core.results import Fit
from plurivox.core.rows import DENSE_CELLS, Candidates, Dense
from plurivox.core.votes import Votes
from plurivox.core.watch import Watch

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

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        del gold, start, watch
        if votes.n_tasks * votes.n_labels <= DENSE_CELLS:
            body, n_tied = self._of_table(votes.counts())
        else:
            body, n_tied = self._of_tally(votes.tally())
        return Fit(believed(votes, body), votes.workers, self.word, prior=prior(votes), found={"ties": n_tied})

    def _of_table(self, counts: Floats) -> tuple[Dense | Candidates, int]:
        """Every number looked at, whole columns at once."""
        label = counts.argmax(1)
        best = counts[np.arange(len(counts)), label]
        winner = counts >= (best - CLOSE * np.maximum(best, 1))[:, None]
        n_winners = np.count_nonzero(winner, axis=1)
        tied = (n_winners > 1) & (best > 0)
        n_tied = int(np.count_nonzero(tied))
        if self.ties == "share":
            return Dense(winner / n_winners[:, None]), n_tied
        label = self._label(winner, n_winners, tied)
        if not best.all():  # tasks without a vote get a row of numbers later
            return Dense(np.eye(counts.shape[1])[label]), n_tied
        rows = np.arange(len(label) + 1)
        return Candidates(rows, label, np.ones(len(label)), np.zeros(len(label)), counts.shape[1]), n_tied

    def _label(self, winner: Bools, n_winners: Ints, tied: Bools) -> Ints:
        """(n_tasks,) the first winner of each row, or a drawn one."""
        label = winner.argmax(1)
        if self.ties == "random" and tied.any():
            place = self._places(np.where(tied, n_winners, 1))[tied]
            label[tied] = np.argmax(np.cumsum(winner[tied], 1) == place[:, None] + 1, axis=1)
        return label

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
