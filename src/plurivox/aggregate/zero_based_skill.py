"""Zero-based skill: worker skills estimated by gradient descent towards their agreement with the weighted vote."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress_callbacks import AtMost, Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes

START_ABOVE_RANDOM = 1e-5  # added to the initial skill 1/K
MOVE_TOLERANCE = 1e-12  # converged if no skill changes by more than this


@dataclass(frozen=True)
class ZeroBasedSkill(Aggregator):
    """Weighted vote shares; each worker's weight moves by gradient steps towards their agreement with the weighted vote.

    Each skill starts at s_j = 1/K. Each round computes the majority vote with weights s_j and updates
    s_j <- s_j + r (a_j - s_j), a gradient step on the squared error to a_j, the share of worker j's votes that equal the
    majority label of their task. The rate r is multiplied by `factor` every `steps` rounds. It stops when no skill changes.

    p(k | task) = sum of s_j over the votes j for k / sum of s_j over all votes of the task. Ties go to the first label.
    The ability is s_j; nan for workers without votes. `found["ties"]` is the number of tied tasks of the unweighted vote.

    The method is that of crowd-kit, https://doi.org/10.21105/joss.06227

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> ZeroBasedSkill().fit(votes).soft.prob
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    max_iter: int = option(100, "maximum number of rounds that update the worker skills", low=1)
    rate: float = option(
        1.0, "initial learning rate: share of the difference to the agreement by which a skill moves", low=0, high=1
    )
    steps: int = option(20, "number of rounds between reductions of the learning rate", low=1)
    factor: float = option(0.5, "factor by which the learning rate is multiplied at each reduction", low=0, high=1)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    estimates: ClassVar[Estimand] = "truth"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        weighted = WeightedVotes.group_by_task_and_label(votes)
        found = {
            "ties": weighted.count_tied_tasks(weighted.label_shares_by_task(weighted.vote_weight_per_task_label_pair))
        }
        skill, rate = np.full(votes.n_workers, 1 / votes.n_labels + START_ABOVE_RANDOM), self.rate
        converged = False
        for step in range(self.max_iter):
            rate *= self.factor if (step + 1) % self.steps == 0 else 1
            winner = weighted.top_label_per_task(
                weighted.label_shares_by_task(weighted.worker_weighted_sum_per_task_label_pair(skill))
            )
            move = rate * (weighted.share_of_votes_agreeing_per_worker(winner) - skill)
            skill = skill + move
            moved = float(np.nanmax(np.abs(move), initial=0))
            progress(step, AtMost(self.max_iter), moved)
            if converged := moved <= MOVE_TOLERANCE:
                break
        found["rounds"] = step + 1
        soft = weighted.shares_to_soft_labels(
            weighted.label_shares_by_task(weighted.worker_weighted_sum_per_task_label_pair(skill))
        )
        return Fit(
            soft, votes.workers, self.spec, overall_vote_shares(votes), ability=skill, converged=converged, found=found
        )
