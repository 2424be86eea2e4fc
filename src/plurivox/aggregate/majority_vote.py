"""Majority vote, with ties by a stated rule."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._counting import believed, prior
from plurivox.core.labels import SoftLabels
from plurivox.core.method import option
from plurivox.core.names import Floats
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
        tally = votes.tally() if votes.n_tasks * votes.n_labels > DENSE_CELLS else _listed(votes.counts())
        best = np.zeros(votes.n_tasks)
        np.maximum.at(best, tally.row, tally.mass)
        winner = tally.mass >= best[tally.row] - CLOSE * np.maximum(best[tally.row], 1)
        n_winners = np.bincount(tally.row[winner], minlength=votes.n_tasks)
        share: Floats = winner / np.maximum(n_winners, 1)[tally.row]
        if self.ties != "share":
            share = self._one_winner(tally, winner, n_winners)
        body = replace(tally, mass=share, rest=np.where(n_winners > 0, 0.0, 1.0))
        dense = votes.n_tasks * votes.n_labels <= DENSE_CELLS
        soft = believed(votes, Dense(body.block(slice(None))) if dense else body)
        return Fit(soft, votes.workers, self.word, prior=prior(votes), found={"ties": int((n_winners > 1).sum())})

    def _one_winner(self, tally: Candidates, winner: np.ndarray, n_winners: np.ndarray) -> Floats:
        """(n_candidates,) 1 for the winner of each row, chosen among the tied."""
        place = np.zeros(len(n_winners), np.int64)
        if self.ties == "random":
            tied = n_winners > 1
            place[tied] = np.random.default_rng(self.seed).integers(0, n_winners[tied])
        before = np.cumsum(winner) - winner  # winners before this candidate, over all rows
        first = np.cumsum(n_winners) - n_winners
        return (winner & (before - first[tally.row] == place[tally.row])).astype(np.float64)


def _listed(counts: Floats) -> Candidates:
    """The cells above zero of a table of counts."""
    row, label = np.nonzero(counts)
    start = np.searchsorted(row, np.arange(len(counts) + 1))
    return Candidates(start, label, counts[row, label], np.zeros(len(counts)), counts.shape[1])
