"""Measures of the label that is believed most: how often it is the right one.

Each takes (guess, truth) and looks at the tasks both have. The true label is the most probable one of the truth.
"""

from typing import Literal

import numpy as np

from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats
from plurivox.core.rows import Rows
from plurivox.evaluate._meeting import BLOCK, meet

Ties = Literal["first", "share"]
CLOSE = 1e-9  # probabilities this near the top are tied with it


def accuracy(guess: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """The share of tasks whose most probable label is the true one.

    Where labels tie, the `first` is taken, or the hit is `share`d: 1 / (number of tied labels) where the true one is
    among them, which is what random ties give in the mean.

    >>> guess = SoftLabels.of([[.5, .5], [.2, .8]], ["a", "b"], ["no", "yes"])
    >>> truth = SoftLabels.gold(["a", "b"], ["yes", "yes"])
    >>> accuracy(guess, truth), accuracy(guess, truth, ties="share")
    (0.5, 0.75)
    """
    return float(hits(*meet(guess, truth), ties).mean())


def balanced_accuracy(guess: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """The accuracy on the tasks of each true label, averaged over the labels that occur.

    (1 / K) sum_k (hits on tasks of label k / tasks of label k).
    Brodersen et al. (2010), https://doi.org/10.1109/ICPR.2010.764

    >>> guess = SoftLabels.gold(["a", "b", "c"], ["no", "no", "no"], labels=["no", "yes"])
    >>> balanced_accuracy(guess, SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"]))
    0.5
    """
    left, right = meet(guess, truth)
    true = right.top(1)[0][:, 0]
    hit, n = np.bincount(true, hits(left, right, ties)), np.bincount(true)
    return float((hit[n > 0] / n[n > 0]).mean())


def hits(guess: Rows, truth: Rows, ties: Ties) -> Floats:
    """(n_tasks,) 1 where the most probable label is the true one, less where ties share it."""
    true = truth.top(1)[0][:, 0]
    best, top = (column[:, 0] for column in guess.top(1))
    if ties == "first":
        return (best == true).astype(np.float64)
    tied = np.zeros(len(guess))
    for begin in range(0, len(guess), BLOCK):
        where = slice(begin, begin + BLOCK)
        tied[where] = (guess.block(where) >= top[where, None] - CLOSE).sum(1)
    return (guess.at(true) >= top - CLOSE) / tied
