"""Iterative weighted majority vote: workers weighted by their agreement with the previous result."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress_callbacks import AtMost, Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class IWMV(Aggregator):
    """Iterated weighted majority vote: each worker's weight is their agreement with the previous result.

    Start from a majority vote. In each round, w_j is the share of worker j's votes that equal the previous label of their
    task, and each task takes the label with the largest sum of vote weights: w_j (`plain`), or K w_j - 1 (`li-yu`), which is
    negative for workers who are worse than chance. It stops when no label changes; one round of `plain` is wawa. Ties go to
    the first label, labels with votes before others.

    p(k | task) is the share of label k in the weights of the last round. Labels with a negative sum get 0; if no sum is
    positive, the sums of all labels (0 for labels without votes) are shifted so that the smallest is 0; if all are 0 then,
    unweighted votes decide. The ability is w_j; nan for workers without votes.

    Li and Yu (2014), https://doi.org/10.48550/arXiv.1411.4086

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> fit = IWMV(weights="li-yu").fit(votes)
    >>> fit.ability, fit.soft.hard().tolist(), fit.converged
    (array([1. , 0.5, 0.5]), ['no', 'yes'], True)
    """

    weights: Literal["plain", "li-yu"] = option(
        "plain", "weight of a worker with agreement w: w, or K w - 1 with K labels"
    )
    max_iter: int = option(10, "maximum number of rounds that update the worker weights", low=1)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    estimates: ClassVar[Estimand] = "truth"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        weighted = WeightedVotes.group_by_task_and_label(votes)
        shares = weighted.label_shares_by_task(weighted.vote_weight_per_task_label_pair)
        found, label = {"ties": weighted.count_tied_tasks(shares)}, weighted.top_label_per_task(shares)
        converged = False
        for step in range(self.max_iter):
            ability = weighted.share_of_votes_agreeing_per_worker(label)
            weight = ability if self.weights == "plain" else votes.n_labels * ability - 1
            shares = weighted.label_shares_by_task(weighted.worker_weighted_sum_per_task_label_pair(weight))
            last, label = label, weighted.top_label_per_task(shares)
            changed = int((last != label).sum())
            progress(step, AtMost(self.max_iter), changed)
            if converged := changed == 0:
                break
        found["rounds"] = step + 1
        soft = weighted.shares_to_soft_labels(shares)
        return Fit(
            soft,
            votes.workers,
            self.spec,
            overall_vote_shares(votes),
            ability=ability,
            converged=converged,
            found=found,
        )
