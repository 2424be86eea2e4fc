"""CROWDLAB: probability that a task's label is right, from its votes and a classifier."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.core.soft_labels import Estimand
from plurivox.engine import crowdlab
from plurivox.identify._contract import Evidence, Identifier


@dataclass(frozen=True)
class Crowdlab(Identifier):
    """CROWDLAB: probability that a task's label is right, from its votes and a classifier's prediction.

    q(k) = (w_M p_M(k) + sum over votes (j, y) of w_j (P if y = k else (1 - P) / (K - 1))) / (w_M + sum_j w_j), and raw is q of
    the label: the one with most votes (ties go to the one that the classifier finds more probable), or the one with the
    largest q, with which all quantities are then computed once more. p_M is the prediction of the classifier, which must not
    have been trained on that task: `plurivox train INPUT --folds 5 -o RUN` writes such predictions, and `plurivox identify
    crowdlab INPUT --prediction RUN/out_of_fold.csv` uses them. On tasks with two votes or more: P is the mean share of votes
    for the label, E the error of always predicting the most frequent label, error_M that of the classifier; error_j is the
    share of other votes on the worker's tasks that differ from the worker's. w_j = 1 - error_j / E and w_M = (1 - error_M / E)
    sqrt(mean votes per task), each at least 1e-6. A worker who shares no task with others gets the mean of the other workers.
    badness = 1 - raw; a task without votes gets nan. Called label-quality before version 0.2.

    Goh, Tkachenko & Mueller (2022), CROWDLAB: supervised learning to infer consensus labels and quality scores for data
    with multiple annotators, https://doi.org/10.48550/arXiv.2210.06812

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aaabbbcccd"), worker=[1, 2, 3] * 3 + [3], label=list("xxxyyyxxyx"))
    >>> prediction = SoftLabels.of([[.9, .1], [.2, .8], [.6, .4], [.3, .7]], tasks=list("abcd"), labels=list("xy"))
    >>> Crowdlab().score(Evidence(votes=votes, prediction=prediction)).raw.round(3)
    array([0.896, 0.834, 0.712, 0.7  ])
    """

    consensus: Literal["best", "majority"] = option(
        "best", "label that is scored: the one with the largest estimated probability, or with most votes"
    )

    former_names: ClassVar[tuple[str, ...]] = ("label-quality",)
    of: ClassVar[ScoreTarget] = "task"
    estimates: ClassVar[Estimand] = "truth"
    needs: ClassVar[tuple[str, ...]] = ("votes", "prediction")

    def _score(self, evidence: Evidence, progress: Progress) -> Scores:
        votes, prediction = evidence.votes, evidence.prediction
        assert votes is not None and prediction is not None
        table = crowdlab.CrowdlabVotes(votes, prediction, self.name())
        label, weights = crowdlab.consensus_labels_and_trust_weights(table, self.consensus, self.name(), progress)
        _, raw = table.given_or_best_labels_and_probabilities(weights, label, progress)
        raw[votes.support == 0] = np.nan
        return Scores("task", votes.tasks, raw, 1 - raw, self.spec, n=votes.support)
