"""Wawa (worker agreement with aggregate): vote shares weighted by agreement with the majority vote."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class Wawa(Aggregator):
    """Weighted vote shares; a worker's weight is their agreement with the majority vote.

    p(k | task) = sum of w_j over the votes j for k / sum of w_j over all votes j of the task, where w_j is the share of
    worker j's votes that equal the majority label of their task (the first label if tied). The ability is w_j; nan for workers
    without votes. `found["ties"]` is the number of tied tasks. With `ties=share` a vote for one of n tied labels counts as 1/n
    agreement, so that the order of the labels does not matter; with `pool` a worker with few votes is not certainly useless.

    "Worker Agreement With Aggregate" is a measure by Appen; the method is that of crowd-kit,
    https://doi.org/10.21105/joss.06227

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> fit = Wawa().fit(votes)
    >>> fit.ability, fit.soft.prob
    (array([1. , 0.5, 0.5]), array([[0.75, 0.25],
           [0.25, 0.75]]))
    """

    ties: Literal["first", "share"] = option(
        "first", "tied majorities: the first label is the majority label, or agreement is shared among the tied labels"
    )
    pool: float = option(0.0, "number of votes with the mean agreement that are added to those of each worker", low=0)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    estimates: ClassVar[Estimand] = "truth"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        weighted = WeightedVotes.group_by_task_and_label(votes)
        majority = weighted.label_shares_by_task(weighted.vote_weight_per_task_label_pair)
        agreement = (
            weighted.shared_agreement_per_task_label_pair(majority)
            if self.ties == "share"
            else (weighted.label == weighted.top_label_per_task(majority)[weighted.task]).astype(np.float64)
        )
        ability = weighted.mean_agreement_per_worker(agreement, self.pool)
        soft = weighted.shares_to_soft_labels(
            weighted.label_shares_by_task(weighted.worker_weighted_sum_per_task_label_pair(ability))
        )
        found = {"ties": weighted.count_tied_tasks(majority)}
        return Fit(soft, votes.workers, self.spec, prior=overall_vote_shares(votes), ability=ability, found=found)
