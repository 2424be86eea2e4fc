"""The sum of the diagonal of a worker's confusion matrix."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.types import Floats
from plurivox.identify._shared.confusion_score import ConfusionScore


@dataclass(frozen=True)
class Trace(ConfusionScore):
    """The sum of the diagonal of a worker's confusion matrix: how often right, every label counted alike.

    `raw` is the trace, sum_k P(says k | k is true), n_labels for who is always right and 1 for who guesses;
    value = 1 - trace / n_labels. The matrix of a worker with few votes would be made
    mostly of pseudo-counts, so the fit draws it to the whole crowd's (pool=4); the paper's own is --by dawid-skene.

    Lefort, Charlier, Joly & Salmon (2024), Peerannot, Computo, https://doi.org/10.57750/qmaz-gr91

    >>> import plurivox as pv
    >>> from plurivox.identify import Evidence
    >>> votes = pv.votes(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> Trace().score(Evidence(fit=pv.fit(votes, "dawid-skene"))).raw.round(2)
    array([1.99, 1.99, 0.51])
    """

    def of_matrices(self, matrices: Floats) -> Floats:
        return np.trace(matrices, axis1=1, axis2=2)

    def best(self, n_labels: int) -> float:
        return n_labels
