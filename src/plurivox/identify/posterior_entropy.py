"""Entropy of an aggregator's posterior for a task."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.task_dispersion import UNIT_HELP, convert_entropy, dispersion_of_soft_labels


@dataclass(frozen=True)
class PosteriorEntropy(Identifier):
    """Entropy of the posterior that an aggregator gives a task.

    raw(task) = -sum_k q_k log q_k in `unit`, where q is the task's soft label in the fit; badness = raw. It accounts for the
    workers' reliability, while `entropy` only counts votes; a task without votes gets nan. The posteriors of models that assume
    independent votes are too certain if the votes depend on each other: then use the ranking of tasks, not the entropies.

    It says how uncertain the right label is (truth), which more votes reduce even if people disagree: use it to find labels
    that may be wrong, and `entropy` to find tasks that people find ambiguous.

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.name_encoding import as_names
    >>> from plurivox.core.results import Fit
    >>> soft = SoftLabels.of([[.5, .5], [1, 0]], tasks=["a", "b"], labels=["cat", "dog"])
    >>> PosteriorEntropy(unit="bits").score(Evidence(fit=Fit(soft, as_names([]), "by hand"))).raw
    array([1., 0.])
    """

    unit: Literal["nats", "bits", "share"] = option("nats", UNIT_HELP)

    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.fit is not None
        dispersion = dispersion_of_soft_labels(evidence.fit.soft)
        nats = dispersion.nan_for_tasks_without_answers(dispersion.entropy)
        raw = convert_entropy(nats, self.unit, dispersion.n_labels)
        return Scores("task", dispersion.tasks, raw, raw, self.spec, n=dispersion.support)
