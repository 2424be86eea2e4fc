"""Wawa: worker agreement with aggregate."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_counts import prior
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class Wawa(Aggregator):
    """Vote shares in which each worker weighs as much as they agree with the majority.

    p(k | task) = sum of w_j over the votes j for k / sum of w_j over all votes j of the task, where w_j is the share of
    worker j's votes that named the majority's label of their task (the first of tied ones; ties are counted). The ability
    is w_j; who never voted has none (nan).

    "Worker Agreement With Aggregate" is a measure of Appen's; the method is that of crowd-kit,
    https://doi.org/10.21105/joss.06227

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> fit = Wawa().fit(votes)
    >>> fit.ability, fit.soft.prob
    (array([1. , 0.5, 0.5]), array([[0.75, 0.25],
           [0.25, 0.75]]))
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        ballots = WeightedVotes.of(votes)
        majority = ballots.split(ballots.counts)
        ability = ballots.agreement(ballots.winners(majority))
        soft = ballots.soft(ballots.split(ballots.sums(ability)))
        found = {"ties": ballots.ties(majority)}
        return Fit(soft, votes.workers, self.spec, prior=prior(votes), ability=ability, found=found)
