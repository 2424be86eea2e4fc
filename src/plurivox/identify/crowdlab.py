"""CROWDLAB: how sure the crowd and a classifier together are of a task's label."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Scores, ScoreTarget
from plurivox.engine import crowdlab
from plurivox.identify._contract import Evidence, Identifier


@dataclass(frozen=True)
class Crowdlab(Identifier):
    """CROWDLAB: how likely a task's label is right, by its votes and a classifier together.

    q(k) = (w_M p_M(k) + sum over votes (j, y) of w_j (P if y = k else (1 - P) / (K - 1))) / (w_M + sum_j w_j), and raw is q of
    the label: the one most voted for (ties go to the classifier's better one), or the best by q, against which everything
    is then held once more. p_M is the classifier's, which must not have learnt from that task. On tasks with two votes or
    more: P is the mean share of votes for the label, E the error of always saying the commonest one, error_M that of the
    classifier; error_j is the share of other votes on the worker's tasks that differ from the worker's.
    w_j = 1 - error_j / E and w_M = (1 - error_M / E) sqrt(mean votes a task), each at least 1e-6. A worker whom nobody met
    gets the mean of the others. value = 1 - raw; a task without votes gets nan.

    Goh, Tkachenko & Mueller (2022), CROWDLAB: supervised learning to infer consensus labels and quality scores for data
    with multiple annotators, https://doi.org/10.48550/arXiv.2210.06812

    >>> from plurivox.core.soft_labels import SoftLabels
    >>> from plurivox.core.votes import Votes
    >>> votes = Votes.of(task=list("aaabbbcccd"), worker=[1, 2, 3] * 3 + [3], label=list("xxxyyyxxyx"))
    >>> prediction = SoftLabels.of([[.9, .1], [.2, .8], [.6, .4], [.3, .7]], tasks=list("abcd"), labels=list("xy"))
    >>> Crowdlab().score(Evidence(votes=votes, prediction=prediction)).raw.round(3)
    array([0.896, 0.834, 0.712, 0.7  ])
    """

    consensus: Literal["best", "majority"] = option("best", "the label judged: best by q, or the one most voted for")

    former_names: ClassVar[tuple[str, ...]] = ("label-quality",)
    of: ClassVar[ScoreTarget] = "task"
    needs: ClassVar[tuple[str, ...]] = ("votes", "prediction")

    def _score(self, seen: Evidence, progress: Progress) -> Scores:
        votes, prediction = seen.votes, seen.prediction
        assert votes is not None and prediction is not None
        table = crowdlab.CrowdlabVotes(votes, prediction, self.name())
        label, weights = crowdlab.consensus_labels(table, self.consensus, self.name(), progress)
        _, raw = table.label_quality(weights, label, progress)
        raw[votes.support == 0] = np.nan
        return Scores("task", votes.tasks, 1 - raw, self.spec, raw=raw, n=votes.support)
