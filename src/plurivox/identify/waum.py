"""WAUM: the margins of the voted labels during the training of a classifier, weighted by trust in the workers."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand
from plurivox.identify._contract import Evidence, Identifier
from plurivox.identify._shared.margins_of_voted_labels import (
    DIVIDE_BY_HELP,
    MARGIN_HELP,
    TOP_K_HELP,
    MarginOptions,
    indices_of_votes_on_recorded_tasks,
    task_scores_from_weighted_margins,
)


@dataclass(frozen=True)
class Waum(Identifier):
    """WAUM: mean margin of a task's voted labels during the training of a classifier, weighted by trust in the workers.

    raw(task) = sum over its votes (j, y) of s_j * m_y / (sum of the s_j, or the number of votes), with

        m_y = mean over epochs of p_y - p_[2], p the softmax of the classifier's logits, [2] the second largest
        s_j = sum_k p_k pi_j[k, k] at the last epoch, pi_j the worker's confusion matrix.

    Pleiss' margin is p_y minus the largest other. With `top_k`, p_[k + 1] or the k-th largest of the others is subtracted.
    badness = -raw: hard tasks have low trust, or labels without a large margin. Tasks without votes, or not recorded, get nan.
    A soft answer counts by its weights.

    Lefort, Charlier, Joly & Salmon (2024), Identify ambiguous tasks combining crowdsourced labels by weighting areas under
    the margin, TMLR, https://doi.org/10.48550/arXiv.2209.15380; with the number of votes as denominator in Lefort
    et al. (2024), https://doi.org/10.57750/qmaz-gr91; weights: Servajean et al. (2017),
    https://doi.org/10.1109/TMM.2017.2653763

    >>> import numpy as np
    >>> import plurivox as pv
    >>> votes = pv.votes(task=list("aabb"), worker=[1, 2] * 2, label=list("xxxy"))
    >>> dynamics = pv.Dynamics(np.array([[[2.0, 0.0], [0.5, 0.0]]]), votes.tasks, votes.labels)
    >>> Waum().score(Evidence(votes=votes, fit=pv.fit(votes, "dawid-skene"), dynamics=dynamics)).worst().tolist()
    ['b', 'a']
    """

    margin: Literal["yang", "pleiss"] = option("yang", MARGIN_HELP)
    top_k: int = option(1, TOP_K_HELP, low=1)
    divide_by: Literal["weights", "votes"] = option("weights", DIVIDE_BY_HELP)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})
    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("votes", "fit", "dynamics")
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)
    fit_fields: ClassVar[tuple[str, ...]] = ("confusion",)

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        del progress
        votes, dynamics, fit = evidence.votes, evidence.dynamics, evidence.fit
        assert votes is not None and dynamics is not None and fit is not None
        index = indices_of_votes_on_recorded_tasks(votes, dynamics)
        margin, weight = MarginOptions(self.margin, self.top_k).margins_and_trust_weights_of_votes(
            votes, index, dynamics, fit.confusion
        )
        return task_scores_from_weighted_margins(
            votes, index, margin, weight, self.spec, by_weights=self.divide_by == "weights"
        )
