"""Measures of whether probabilities can be taken at their word.

Each takes (guess, truth) and looks at the tasks both have. The true label is the most probable one of the truth.
"""

import numpy as np

from plurivox.core.labels import SoftLabels
from plurivox.evaluate._meeting import blocks, meet
from plurivox.evaluate.hard import Ties, hits


def nll(guess: SoftLabels, truth: SoftLabels, *, clip: float = 1e-6) -> float:
    """The negative log likelihood of the true label, mean of -log q(true) in nats, with q at least `clip`.

    The clip bounds what one sure mistake can cost: -log 1e-6 = 13.8. Good (1952), https://doi.org/10.1111/j.2517-6161.1952.tb00104.x

    >>> guess = SoftLabels.of([[.5, .5], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> round(nll(guess, SoftLabels.gold(["a", "b"], ["yes", "yes"])), 4)
    7.2543
    """
    left, right = meet(guess, truth)
    true = right.top(1)[0][:, 0]
    return float(-np.log(np.maximum(left.at(true), clip)).mean())


def brier(guess: SoftLabels, truth: SoftLabels) -> float:
    """The mean of sum_k (q_k - 1[k is true])^2 over all labels, 0 to 2.

    Brier (1950), https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2

    >>> guess = SoftLabels.of([[.5, .5], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> brier(guess, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    1.25
    """
    left, right = meet(guess, truth)
    true = right.top(1)[0][:, 0]
    square = np.concatenate([(q**2).sum(1) for q, _ in blocks(left, right)])
    return float((square - 2 * left.at(true) + 1).mean())


def ece(guess: SoftLabels, truth: SoftLabels, *, bins: int = 15, ties: Ties = "first") -> float:
    """The expected calibration error: how far confidence is from accuracy, over bins of confidence.

    sum_b n_b / n |accuracy_b - confidence_b| over `bins` equal bins (lower edge out, upper in), taken once over all
    tasks. Ties as in `accuracy`. Guo et al. (2017), https://doi.org/10.48550/arXiv.1706.04599

    >>> guess = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> ece(guess, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.7
    """
    left, right = meet(guess, truth)
    hit, confidence = hits(left, right, ties), left.top(1)[1][:, 0]
    place = np.digitize(confidence, np.linspace(0, 1, bins + 1)[1:-1], right=True)
    return float(np.abs(np.bincount(place, hit - confidence)).sum() / len(hit))
