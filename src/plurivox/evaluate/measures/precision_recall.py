"""Precision, recall and F1 of the label believed most.

Of label k: precision = hits / tasks that got k, recall = hits / tasks whose true label is k, F1 = 2 hits / (both together).
`macro` is the mean over the labels that occur on either side, `weighted` weighs them by the tasks whose true label they are,
`micro` adds up over labels first: with one label a task all three are then the accuracy. What has no tasks counts 0.
"""

from typing import Literal

import numpy as np

from plurivox.core.errors import unknown
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats
from plurivox.evaluate.alignment import meet
from plurivox.evaluate.measures.accuracy import Ties, said_labels, true_labels
from plurivox.evaluate.resampling import Tally

Average = Literal["macro", "weighted", "micro"]
What = Literal["precision", "recall", "f1"]


def precision(guess: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Of the tasks that got a label, the share whose true label it is.

    P_k = hits_k / said_k, averaged over labels. Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> guess = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> precision(guess, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    0.75
    """
    return of_labels(*meet(guess, truth), ties, "precision", average).value


def recall(guess: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Of the tasks whose true label it is, the share that got it.

    R_k = hits_k / true_k, averaged over labels; `balanced_accuracy` leaves out labels that are never true, this does not.
    Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> guess = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> recall(guess, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    0.75
    """
    return of_labels(*meet(guess, truth), ties, "recall", average).value


def f1(guess: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """The harmonic mean of precision and recall of each label, averaged over labels.

    F_k = 2 hits_k / (said_k + true_k). Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> guess = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> round(f1(guess, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"])), 4)
    0.6667
    """
    return of_labels(*meet(guess, truth), ties, "f1", average).value


def of_labels(left: Rows, right: Rows, ties: Ties, what: What, average: Average) -> Tally:
    """The tally of one of the three: hits, said and true of every label."""
    if average not in ("macro", "weighted", "micro"):
        raise unknown("average", average, ("macro", "weighted", "micro"))
    size, true = left.n_labels, true_labels(right)
    row, said, share = said_labels(left, ties)
    right_ones = said == true[row]
    pieces = [
        (row[right_ones], said[right_ones], share[right_ones]),
        (row, size + said, share),
        (np.arange(len(left)), 2 * size + true, np.ones(len(left))),
    ]
    return Tally(len(left), 3 * size, lambda: pieces, lambda sums, _: averaged(sums, what, average))


def averaged(sums: Floats, what: What, average: Average) -> Floats:
    """(n,) the measure of sums (n, 3 x n_labels): hits, said, true."""
    hit, said, true = np.split(sums, 3, axis=1)
    below = {"precision": said, "recall": true, "f1": (said + true) / 2}[what]
    if average == "micro":
        return hit.sum(1) / below.sum(1)
    each = np.divide(hit, below, out=np.zeros_like(hit), where=below > 0)
    weight = true if average == "weighted" else (said + true > 0).astype(np.float64)
    return (each * weight).sum(1) / weight.sum(1)
