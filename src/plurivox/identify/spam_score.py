"""Spammer score: how close a worker's confusion matrix is to one with identical rows."""

from dataclasses import dataclass

from plurivox.core.array_types import Floats
from plurivox.identify._shared.confusion_matrix_score_base_class import ConfusionScore


@dataclass(frozen=True)
class SpamScore(ConfusionScore):
    """Spammer score of a worker: how close the confusion matrix is to one with identical rows.

    A spammer's answers do not depend on the true label, so the rows of the confusion matrix pi are equal. With K labels

        raw = 1 / (K (K - 1)) * sum over pairs k < l of sum_y (pi[k, y] - pi[l, y])^2,

    every pair of rows taken once: the squared distance to the nearest matrix of identical rows, divided by K - 1. It is 0
    for a spammer and 1 for a worker who is always right, or who exchanges
    labels one to one. badness = 1 - raw. The fit
    is dawid-skene unless another is given (--by). With few votes per worker and many labels most rows of a matrix have no
    votes, and the score says little about the worker: to rank or drop workers, `spam-score-pooled` is then better.

    Raykar & Yu (2012), Eliminating spammers and ranking annotators, JMLR 13, 491-518.

    >>> import plurivox as pv
    >>> from plurivox.identify import Evidence
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> SpamScore().score(Evidence(fit=pv.fit(votes, "dawid-skene"))).raw.round(2)
    array([0.97, 0.97, 0.24])
    """

    def raw_scores_of_confusion_matrices(self, matrices: Floats) -> Floats:
        distance = ((matrices - matrices.mean(1, keepdims=True)) ** 2).sum((1, 2))  # the sum over pairs is K times this
        return distance / (matrices.shape[1] - 1)
