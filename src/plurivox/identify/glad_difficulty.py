"""Difficulty of a task estimated by GLAD."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.task_dispersion import nan_for_tasks_without_answers


@dataclass(frozen=True)
class GladDifficulty(Identifier):
    """Difficulty of a task estimated by GLAD.

    raw(task) = exp(-log beta) = 1 / beta, where beta is the ease of the task: a vote of a worker of ability alpha is right
    with probability 1 / (1 + exp(-alpha beta)). If it is near 0, every worker of positive ability is right; if it is large,
    every worker is right with probability 1/2. badness = raw; a task without votes gets nan.

    Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more, NeurIPS 22; as a score of tasks: Lefort
    et al. (2024), section 5.1, https://doi.org/10.57750/qmaz-gr91

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.name_encoding import as_names
    >>> from plurivox.core.results import Fit
    >>> import numpy as np
    >>> soft = SoftLabels.gold(["a", "b"], ["cat", "dog"])
    >>> fit = Fit(soft, as_names([]), "by hand", difficulty=np.array([0.2, 3.0]))
    >>> GladDifficulty().score(Evidence(fit=fit)).worst()
    array(['b', 'a'], dtype=StringDType())
    """

    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    fitted_by: ClassVar[tuple[str, ...]] = ("glad",)
    fit_fields: ClassVar[tuple[str, ...]] = ("difficulty",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        assert evidence.fit is not None and evidence.fit.difficulty is not None
        soft = evidence.fit.soft
        raw = nan_for_tasks_without_answers(soft.support, evidence.fit.difficulty)
        return Scores("task", soft.tasks, raw, raw, self.spec, n=soft.support)
