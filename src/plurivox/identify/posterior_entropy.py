"""How unsure an aggregator still is of a task."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.dispersion import UNIT_HELP, in_unit, spread_of_soft


@dataclass(frozen=True)
class PosteriorEntropy(Identifier):
    """How unsure an aggregator still is of a task.

    raw(task) = -sum_k q_k log q_k in nats, where q is the task's soft label in the fit; `value` is the same in `unit`. It
    weighs who voted, where `entropy` only counts; a task without votes gets nan. Posteriors of models that take votes as
    independent are too certain: their order says more than their size.

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.encoding import as_names
    >>> from plurivox.core.results import Fit
    >>> soft = SoftLabels.of([[.5, .5], [1, 0]], tasks=["a", "b"], labels=["cat", "dog"])
    >>> PosteriorEntropy(unit="bits").score(Evidence(fit=Fit(soft, as_names([]), "by hand"))).value
    array([1., 0.])
    """

    unit: Literal["nats", "bits", "share"] = option("nats", UNIT_HELP)

    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        assert seen.fit is not None
        shares = spread_of_soft(seen.fit.soft)
        raw = shares.told(shares.entropy)
        value = in_unit(raw, self.unit, shares.n_labels)
        return Scores("task", shares.tasks, value, self.spec, raw=raw, n=shares.support)
