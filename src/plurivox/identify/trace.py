"""Trace of a worker's confusion matrix."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.identify._shared.confusion_matrix_score_base_class import ConfusionScore


@dataclass(frozen=True)
class Trace(ConfusionScore):
    """Trace of a worker's confusion matrix, which weights the accuracy on every label equally.

    `raw` is the trace, sum_k P(gives k | k is true), n_labels for a worker who is always right, 1 for random answers;
    badness = 1 - trace / n_labels. The fit is dawid-skene unless another is given (--by). A label on which the worker has no
    votes adds 1 / n_labels, so with few votes per worker the trace grows with the number of labels that the worker met: to
    rank or drop workers, `trace-pooled` is then better.

    Lefort, Charlier, Joly & Salmon (2024), Peerannot, Computo, https://doi.org/10.57750/qmaz-gr91

    >>> import plurivox as pv
    >>> from plurivox.identify import Evidence
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> Trace().score(Evidence(fit=pv.fit(votes, "dawid-skene"))).raw.round(2)
    array([1.99, 1.99, 0.51])
    """

    def raw_scores_of_confusion_matrices(self, matrices: Floats) -> Floats:
        return np.trace(matrices, axis1=1, axis2=2)

    def raw_score_of_perfect_worker(self, n_labels: int) -> float:
        return n_labels
