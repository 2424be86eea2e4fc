"""Aggregation method average: the mean of the soft labels of several aggregation methods."""

from dataclasses import dataclass, replace
from typing import ClassVar

from plurivox.aggregate._contract import EMAggregator
from plurivox.aggregate._shared.method_with_parts import MethodWithParts
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS
from plurivox.core.soft_transforms import mean_of_soft_labels, overlay
from plurivox.core.votes import Votes

DEFAULT_PARTS = (
    "vote-shares,wawa,one-coin,fast-dawid-skene,dawid-skene[smooth=0.01],dawid-skene[pool=4],ibcc,ebcc,mace,glad"
)


@dataclass(frozen=True)
class Average(MethodWithParts):
    """Average the soft labels of several aggregation methods (ten by default) with equal weights.

    p(k | task) = 1/M sum_m p_m(k | task) over the M parts. Where the parts disagree, the mean is less certain than the parts
    are on average. The default parts were chosen in an earlier study on 11 data sets with gold labels, ten of which are in
    docs/comparison.md: vote shares, wawa, one-coin, fast Dawid-Skene, Dawid-Skene with pseudo-counts of 0.01, Dawid-Skene
    with a pooled prior of strength 4, IBCC, EBCC, MACE and GLAD. `parts` sets another list.

    Parts that take gold labels use them; a task with a gold label keeps it in the mean.

    Wright and Augenstein (2025) average aggregated labels for training, https://doi.org/10.1371/journal.pone.0323064

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> fit = Average(parts="vote-shares, majority-vote[ties=share]").fit(votes)
    >>> fit.soft.prob.round(3), fit.made_by
    (array([[0.833, 0.167],
           [0.167, 0.833]]), 'average[parts=[vote-shares, majority-vote[ties=share]]]')
    """

    parts: str = option(DEFAULT_PARTS, "comma-separated aggregation methods whose soft labels are averaged")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold"})

    def estimated_peak_floats(self, votes: Votes) -> int:
        parts, dense = self.methods_of_parts(), votes.n_tasks * votes.n_labels
        n_dense = sum(isinstance(part, EMAggregator) for part in parts) if dense > DENSE_CELLS else len(parts)
        lists = 4 if dense > DENSE_CELLS else 0  # of the labels with a probability above 0, beside the soft labels
        kept = (1 + lists) * n_dense * dense + 12 * len(parts) * len(votes)
        return max(part.estimated_peak_floats(votes) for part in parts) + kept

    def with_parts(self, parts: str) -> "Average":
        return Average(parts)

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del start
        fitted = self.fit_parts(votes, gold, progress)
        soft = replace(mean_of_soft_labels(fitted.softs), support=votes.support, scale=votes.scale)
        return Fit(
            soft if gold is None else overlay(soft, gold),
            votes.workers,
            self.spec,
            converged=fitted.converged,
            found=fitted.found,
        )
