"""Kurtosis of the label probabilities of a task's soft label, as a score of tasks."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.errors import warn_user
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.round_to_40_bits import round_to_40_bits
from plurivox.core.soft_labels import Estimand
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.crowd_agreement_coefficients import REPEATED_HELP
from plurivox.identify._shared.task_dispersion import dispersion_of_soft_labels_or_votes

CONSTANT_KURTOSIS = {2: -2, 3: -1.5}  # number of labels -> the kurtosis of any row of so many probabilities
MIN_VARIANCE = 1e-20  # a smaller variance is rounding error: the row is uniform


@dataclass(frozen=True)
class Kurtosis(Identifier):
    """Kurtosis of the probabilities of a task's soft label, a measure of how peaked it is.

    raw(task) = m_4 / m_2^2 - 3 with m_r = mean over the K labels of (p_k - 1/K)^r: excess kurtosis, not corrected for bias.
    It is largest, at K^2 / (K - 1) - 6, if one label has probability 1, so badness = -raw; but a row that is uniform except
    for one label with probability 0 has the same kurtosis. With two labels it is always -2 and with three always -1.5 (a
    warning says so), and for a uniform row it is undefined (nan): use entropy instead. A task without votes gets nan.
    m_4 / m_2^2 is rounded to 40 bits, so that tasks with the same kurtosis stay ties in a ranking.

    As a measure of disagreement: Fornaciari et al. (2021), section 5, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> soft = SoftLabels.of([[1, 0, 0, 0], [.4, .3, .2, .1]], tasks=["a", "b"], labels=list("wxyz"))
    >>> Kurtosis().score(Evidence(soft=soft)).raw.round(3)
    array([-0.667, -1.36 ])
    """

    repeated: Literal["first", "all"] = option("first", REPEATED_HELP)

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "people"
    needs: ClassVar[tuple[str, ...]] = ("votes|soft",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        dispersion = dispersion_of_soft_labels_or_votes(evidence, self.repeated)
        n_labels = dispersion.n_labels
        if n_labels in CONSTANT_KURTOSIS:
            text = (
                f"the kurtosis of {n_labels} probabilities is always {CONSTANT_KURTOSIS[n_labels]}, "
                "so it cannot rank tasks; use entropy"
            )
            warn_user(text)
        uneven = dispersion.second > MIN_VARIANCE
        ratio = np.divide(
            dispersion.fourth, dispersion.second**2, out=np.full(len(dispersion.tasks), np.nan), where=uneven
        )
        raw = dispersion.nan_for_tasks_without_answers(round_to_40_bits(n_labels * ratio) - 3)
        return Scores("task", dispersion.tasks, raw, -raw, self.spec, n=dispersion.support)
