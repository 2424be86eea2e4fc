"""Two-third agreement: a label only where most agree."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_counts import prior
from plurivox.aggregate._shared.weighted_votes import CLOSE, WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class TwoThird(Aggregator):
    """All mass on a label that two thirds of at least two votes name; otherwise undecided.

    p(k | task) = 1 where n_k / n >= 2/3 and n >= 2, with n_k the weight of the votes for label k and n their sum.
    Where no label reaches that, the task is undecided: its soft label is then the vote shares n_k / n, or even over all
    labels (`otherwise`), and the prior where nobody voted. `found` counts them ("undecided") and marks the others
    ("decided", one truth value a task).

    The rule is that of peerannot: Lefort et al. (2024), https://computo-journal.org/published-202402-lefort-peerannot

    >>> votes = Votes.of(task=list("aaabb"), worker=[1, 2, 3, 1, 2], label=["no", "no", "yes", "yes", "no"])
    >>> fit = TwoThird().fit(votes)
    >>> fit.soft.prob, fit.found
    (array([[1. , 0. ],
           [0.5, 0.5]]), {'undecided': 1, 'decided': array([ True, False])})
    """

    share: float = option(2 / 3, "share of the votes that a label needs", low=0.5, high=1)
    least: float = option(2, "votes that a task needs", low=0)
    otherwise: Literal["shares", "even"] = option("shares", "the soft label of an undecided task")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        ballots = WeightedVotes.of(votes)
        split = ballots.split(ballots.counts)
        enough = votes.support[ballots.task] >= self.least - CLOSE
        chosen = enough & (split.mass >= self.share - CLOSE)
        n_chosen = np.bincount(ballots.task[chosen], minlength=votes.n_tasks)
        decided = n_chosen == 1  # two labels can both reach one half
        here = decided[ballots.task]
        body = replace(split, mass=np.where(here, chosen, split.mass), rest=np.where(decided, 0, split.rest))
        if self.otherwise == "even":
            body = _evened(body, ~decided)
        found = {"undecided": int((~decided).sum()), "decided": decided}
        return Fit(ballots.soft(body), votes.workers, self.spec, prior=prior(votes), found=found)


def _evened(rows: Candidates, which: np.ndarray) -> Candidates:
    """The rows, those of `which` (n_rows,) spread evenly over all labels."""
    even = which[rows.row]
    rest = np.where(which, rows.n_unlisted / rows.n_labels, rows.rest)
    return replace(rows, mass=np.where(even, 1 / rows.n_labels, rows.mass), rest=rest)
