"""Vote shares as soft labels, also called naive soft labels."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares, vote_shares_per_task
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class VoteShares(Aggregator):
    """Soft labels by vote shares: the votes for a label divided by all votes of the task.

    p(k | task) = n_k / sum_l n_l, where n_k is the weight of the votes for label k. A task without votes gets the shares of
    all votes, and a support of 0.

    Uma et al. (2020), eq. 3, https://doi.org/10.1609/hcomp.v8i1.7478; "NaiveSoft" in Lefort et al. (2024).

    >>> votes = Votes.of(task=["a", "a", "a", "b"], worker=[1, 2, 3, 1], label=["no", "no", "yes", "yes"])
    >>> VoteShares().fit(votes).soft.prob.round(3)
    array([[0.667, 0.333],
           [0.   , 1.   ]])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    estimates: ClassVar[Estimand] = "people"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        return Fit(vote_shares_per_task(votes), votes.workers, self.spec, prior=overall_vote_shares(votes))
