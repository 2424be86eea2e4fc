"""Temperature scaling of the soft labels of another aggregation method."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.aggregate._contract import Aggregator, EMAggregator, methods
from plurivox.core import soft_transforms
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class Temperature(Aggregator):
    """Temperature scaling of another aggregation method: a power of its probabilities makes them less, or more, certain.

    p(k | task) = q(k | task)^power / sum_l q(l | task)^power, with the probabilities q of the other method. The order of the
    labels does not change. Models that assume independent votes are too certain if the votes depend on each other; a power
    below 1 makes them less certain. Takes the inputs of the other method except an earlier fit; all other results are those
    of the method. Called temper before version 0.2.

    Guo et al. (2017) scale classifiers in this way, https://doi.org/10.48550/arXiv.1706.04599 (the power is 1 / temperature).

    >>> votes = Votes.of(task=list("aaaaa"), worker=[1, 2, 3, 4, 5], label=["yes", "yes", "yes", "yes", "no"])
    >>> fit = Temperature(method="vote-shares", power=0.5).fit(votes)
    >>> fit.soft.prob.round(3), fit.made_by
    (array([[0.333, 0.667]]), 'temperature[method=vote-shares,power=0.5]')
    """

    method: str = option("ibcc", "method whose probabilities are scaled, with its options in square brackets")
    power: float = option(
        0.25, "exponent, 1 / temperature; below 1 gives less certain labels, above 1 more certain ones", low=0
    )

    former_names: ClassVar[tuple[str, ...]] = ("temper",)
    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold"})

    def estimated_peak_floats(self, votes: Votes) -> int:
        scaled, cells = methods.make(self.method), votes.n_tasks * votes.n_labels
        dense = cells if isinstance(scaled, EMAggregator) else cells * (cells <= DENSE_CELLS)
        return scaled.estimated_peak_floats(votes) + 2 * dense

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del start
        fit = methods.make(self.method).fit(votes, gold=gold, progress=progress)
        return fit.with_soft(soft_transforms.temperature_scale(fit.soft, self.power), self.spec)

    def estimated_quantity(self) -> Estimand:
        return methods.make(self.method).estimated_quantity()

    def accepted_inputs(self) -> frozenset[str]:
        return methods.make(self.method).accepted_inputs() - {"start"}
