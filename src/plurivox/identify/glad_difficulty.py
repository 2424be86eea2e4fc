"""How hard a task is by GLAD: the inverse of its ease."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.dispersion import where_told


@dataclass(frozen=True)
class GladDifficulty(Identifier):
    """How hard a task is by GLAD: the inverse of its ease.

    raw(task) = exp(-log beta) = 1 / beta, where beta is the ease of the task: a vote of a worker of ability alpha is right
    with chance 1 / (1 + exp(-alpha beta)). Near 0 nobody who is able at all gets it wrong; where it is large even they
    prediction. `value` is the same number; a task without votes gets nan.

    Whitehill, Ruvolo, Wu, Bergsma & Movellan (2009), Whose vote should count more, NeurIPS 22; as a score of tasks: Lefort
    et al. (2024), section 5.1, https://doi.org/10.57750/qmaz-gr91

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.encoding import as_names
    >>> from plurivox.core.results import Fit
    >>> import numpy as np
    >>> soft = SoftLabels.gold(["a", "b"], ["cat", "dog"])
    >>> fit = Fit(soft, as_names([]), "by hand", difficulty=np.array([0.2, 3.0]))
    >>> GladDifficulty().score(Evidence(fit=fit)).worst()
    array(['b', 'a'], dtype=StringDType())
    """

    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("fit",)
    fitted_by: ClassVar[tuple[str, ...]] = ("glad",)
    reads: ClassVar[tuple[str, ...]] = ("difficulty",)

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        del progress
        assert seen.fit is not None and seen.fit.difficulty is not None
        soft = seen.fit.soft
        raw = where_told(soft.support, seen.fit.difficulty)
        return Scores("task", soft.tasks, raw, self.spec, raw=raw, n=soft.support)
