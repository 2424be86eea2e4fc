"""Soft labels by the softmax of vote counts."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_share_helpers import overall_vote_shares, soft_labels_unvoted_get_overall_shares
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_transforms import dense_if_small
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class SoftmaxShares(Aggregator):
    """Soft labels by the softmax, over labels, of the number of votes that each label got in the task.

    p(k | task) = exp(n_k / T) / sum_l exp(n_l / T), where n_k is the weight of the votes for label k. All labels
    get positive probability, and more votes give more certain labels. A small temperature T approaches a majority vote, a large
    one a uniform distribution. A task without votes gets the shares of all votes, and a support of 0.

    Uma et al. (2020), eq. 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> votes = Votes.of(task=["a", "a", "a", "b"], worker=[1, 2, 3, 1], label=["no", "no", "yes", "yes"])
    >>> SoftmaxShares().fit(votes).soft.prob.round(3)
    array([[0.731, 0.269],
           [0.269, 0.731]])
    """

    temperature: float = option(
        1.0, "divisor of the vote counts; small values give certain labels, large values uniform ones", low=0.001
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    estimates: ClassVar[Estimand] = "people"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        tally = votes.sparse_vote_counts()
        top = np.zeros(votes.n_tasks)  # subtracted, so that many votes do not overflow
        np.maximum.at(top, tally.row_of_each_candidate, tally.mass)
        mass = np.exp((tally.mass - top[tally.row_of_each_candidate]) / self.temperature)
        rest = tally.n_unlisted_labels_per_row * np.exp(-top / self.temperature)  # labels without votes: exp(0) each
        total = tally.sum_candidates_in_order_of_size(mass) + rest
        body = replace(tally, mass=mass / total[tally.row_of_each_candidate], rest=rest / total)
        return Fit(
            soft_labels_unvoted_get_overall_shares(votes, dense_if_small(body)),
            votes.workers,
            self.spec,
            prior=overall_vote_shares(votes),
        )
