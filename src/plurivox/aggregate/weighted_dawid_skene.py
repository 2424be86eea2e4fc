"""Weighted Dawid-Skene: votes weighted by the diagonals of Dawid-Skene's matrices."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import EMAggregator, max_iter_option, prior_option, tol_option
from plurivox.aggregate._shared.tasks_without_gold import posterior_to_soft_labels
from plurivox.aggregate.dawid_skene import DawidSkene
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.second_compiler import KernelCall


@dataclass(frozen=True)
class WeightedDawidSkene(EMAggregator):
    """Weighted vote shares; the weight of a vote is its worker's accuracy on that label in Dawid-Skene.

    p(task has k) = sum of matrix_worker[k, k] over the votes for k, divided by the same sum over all labels, with the
    matrices estimated by Dawid-Skene. A task on which all workers agree gets
    probability 1; others are mostly less certain than by Dawid-Skene. If all weights of a task are
    0, its vote shares are used. Trace and abilities are those of Dawid-Skene.

    "WDS" in Lefort et al. (2024), https://doi.org/10.57750/qmaz-gr91

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> WeightedDawidSkene().fit(votes).soft.prob.round(2)
    array([[1. , 0. ],
           [0.2, 0.8],
           [1. , 0. ]])
    """

    smooth: float = option(
        0.01, "pseudo-count in every entry of a confusion matrix; 0 is the method as published", low=0
    )
    prior: str = prior_option()
    max_iter: int = max_iter_option()
    tol: float = tol_option()

    estimates: ClassVar[Estimand] = "truth"
    numbers_workers_and_labels: ClassVar[bool] = True

    def estimated_peak_floats(self, votes: Votes) -> int:
        return DawidSkene().estimated_peak_floats(votes) + 2 * votes.n_tasks * votes.n_labels

    def kernel_calls(self, votes: Votes) -> list[KernelCall]:
        return DawidSkene().kernel_calls(votes)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        inner = DawidSkene(smooth=self.smooth, prior=self.prior, max_iter=self.max_iter, tol=self.tol)
        fit = inner.fit(votes, gold=gold, start=start, progress=progress)
        assert fit.confusion is not None
        right = np.einsum("wkk->wk", fit.confusion.matrices)  # (n_workers, n_labels)
        share = _weighted_label_shares_per_task(votes, votes.weights * right[votes.worker, votes.label])
        prob = np.where(np.isnan(share), _weighted_label_shares_per_task(votes, votes.weights), share)
        unvoted = np.isnan(prob[:, 0])
        prob[unvoted] = fit.soft.prob[unvoted]
        if gold is not None:
            known = gold.shared(votes.tasks)
            prob[positions(votes.tasks, known.tasks)] = known.on_labels(votes.labels).prob
        return fit.with_soft(posterior_to_soft_labels(votes, prob), self.spec)


def _weighted_label_shares_per_task(votes: Votes, vote_weight: Floats) -> Floats:
    """(n_tasks, n_labels) each label's share of the total `vote_weight` (n_rows,) in its task; nan if the total is 0."""
    key = votes.task.astype(np.int64) * votes.n_labels + votes.label
    sums = np.bincount(key, vote_weight, minlength=votes.n_tasks * votes.n_labels).reshape(
        votes.n_tasks, votes.n_labels
    )
    total = sums.sum(1, keepdims=True)
    return np.divide(sums, total, out=np.full(sums.shape, np.nan), where=total > 0)
