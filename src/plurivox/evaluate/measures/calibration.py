"""Measures of whether probabilities can be taken at their word.

Each takes (prediction, truth) and looks at the tasks both have. The true label is the most probable one of the truth; the
confidence of a prediction is the probability of its most probable label.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.base import DataType
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Rows
from plurivox.core.types import Floats, Ints
from plurivox.evaluate.alignment import meet, parts
from plurivox.evaluate.measures.hard import Ties, hits, true_labels
from plurivox.evaluate.resampling import Piece, Tally, mean

NLL_CLIP = 1e-6  # the least probability of the true label whose logarithm is taken
BINS = 15  # equal bins of confidence
SIZE = 100  # tasks per bin, where bins are equal in the number of tasks


def nll(prediction: SoftLabels, truth: SoftLabels, *, clip: float = NLL_CLIP) -> float:
    """The negative log likelihood of the true label, mean of -log q(true) in nats, with q at least `clip`.

    The clip bounds what one sure mistake can cost: -log 1e-6 = 13.8. Good (1952), https://doi.org/10.1111/j.2517-6161.1952.tb00104.x

    >>> prediction = SoftLabels.of([[.5, .5], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> round(nll(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"])), 4)
    7.2543
    """
    return mean(log_losses(*meet(prediction, truth), clip)).value


def brier(prediction: SoftLabels, truth: SoftLabels) -> float:
    """The mean of sum_k (q_k - 1[k is true])^2 over all labels, 0 to 2.

    Brier (1950), https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2

    >>> prediction = SoftLabels.of([[.5, .5], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> brier(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    1.25
    """
    return mean(square_losses(*meet(prediction, truth))).value


def ece(prediction: SoftLabels, truth: SoftLabels, *, bins: int = BINS, ties: Ties = "first") -> float:
    """The expected calibration error: how far confidence is from accuracy, over bins of confidence.

    sum_b n_b / n |accuracy_b - confidence_b| over `bins` equal bins (lower edge out, upper in), taken once over all
    tasks: the mean over batches is another and larger number. Ties as in `accuracy`.
    Guo et al. (2017), https://doi.org/10.48550/arXiv.1706.04599

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> ece(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.7
    """
    return ece_tally(*meet(prediction, truth), ties, bins).value


def classwise_ece(prediction: SoftLabels, truth: SoftLabels, *, bins: int = BINS) -> float:
    """The calibration error of every label's probability, averaged over labels.

    (1 / K) sum_k sum_b n_bk / n |share of tasks whose true label is k - mean q_k| over `bins` equal bins of q_k.
    Kull et al. (2019), https://doi.org/10.48550/arXiv.1910.12656

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> classwise_ece(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.7
    """
    return classwise_ece_tally(*meet(prediction, truth), bins).value


def rms_calibration(
    prediction: SoftLabels, truth: SoftLabels, *, size: int = SIZE, compat: bool = False, ties: Ties = "first"
) -> float:
    """The root mean square calibration error over bins of equal size: sqrt(sum_b n_b / n (accuracy_b - confidence_b)^2).

    Tasks are sorted by confidence; every bin holds `size` of them, and the last one those left over too. Tasks of the same
    confidence share their hits, so that their order does not matter. Nguyen and O'Connor (2015), https://doi.org/10.48550/arXiv.1508.05154

    `compat=True` is the number that the released code of PixMix gives, Hendrycks et al. (2022),
    https://doi.org/10.48550/arXiv.2112.05135, and so Collins et al. (2022): it never looks at the last, most confident bin,
    so it is 0 below 2 `size` tasks, and it needs `size` tasks at least.

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> truth = SoftLabels.gold(["a", "b"], ["yes", "yes"])
    >>> round(rms_calibration(prediction, truth, size=1), 4), round(rms_calibration(prediction, truth, size=1, compat=True), 4)
    (0.7616, 0.2828)
    """
    return rms_calibration_tally(*meet(prediction, truth), ties, size, compat).value


def aurra(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """The area under the response rate and accuracy curve: how well confidence puts right answers first.

    The mean over j of the accuracy on the j tasks of highest confidence; tasks of the same confidence share their hits.
    Hendrycks et al. (2022), https://doi.org/10.48550/arXiv.2112.05135

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> aurra(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.25
    """
    hit, sure = hits_and_confidence(*meet(prediction, truth), ties)
    ranked = tied_mean(hit, sure)[np.argsort(-sure, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1)).mean())


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(DataType):
    """What a reliability diagram draws: a row a bin of confidence; nan where no task is in it."""

    low: Floats  # (n_bins,) where the bin begins; the edge itself belongs to the bin below
    high: Floats  # (n_bins,)
    n: Ints  # (n_bins,) tasks in it
    confidence: Floats  # (n_bins,) their mean confidence
    accuracy: Floats  # (n_bins,) the share that is right

    def columns(self) -> dict[str, NDArray[Any]]:
        """low, high, n, confidence, accuracy."""
        return {name: getattr(self, name) for name in ("low", "high", "n", "confidence", "accuracy")}

    def info(self) -> dict[str, object]:
        return {"bins": len(self.n), "tasks": int(self.n.sum())}


def reliability(
    prediction: SoftLabels, truth: SoftLabels, *, bins: int = BINS, size: int | None = None, ties: Ties = "first"
) -> Reliability:
    """Confidence and accuracy in bins: `bins` equal ones as in `ece`, or of `size` tasks each as in `rms_calibration`.

    DeGroot and Fienberg (1983), https://doi.org/10.2307/2987588

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> found = reliability(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]), bins=2)
    >>> found.n.tolist(), found.confidence.tolist(), found.accuracy.tolist()
    ([0, 2], [nan, 0.8], [nan, 0.5])
    """
    hit, sure = hits_and_confidence(*meet(prediction, truth), ties)
    place, low, high = edges(sure, bins, size)
    n = np.bincount(place, minlength=len(low))
    some = np.where(n > 0, n, np.nan)
    hit = hit if size is None else tied_mean(hit, sure)
    return Reliability(low, high, n, *(np.bincount(place, x, minlength=len(low)) / some for x in (sure, hit)))


# ---- of single tasks


def hits_and_confidence(prediction: Rows, truth: Rows, ties: Ties) -> tuple[Floats, Floats]:
    """(n_tasks,) each."""
    return hits(prediction, truth, ties), prediction.top(1)[1][:, 0].astype(np.float64)


def log_losses(prediction: Rows, truth: Rows, clip: float = NLL_CLIP) -> Floats:
    """(n_tasks,) see `nll`."""
    return -np.log(np.maximum(prediction.at(true_labels(truth)).astype(np.float64), clip))


def square_losses(prediction: Rows, truth: Rows) -> Floats:
    """(n_tasks,) see `brier`."""
    square = np.concatenate([(q**2).sum(1) for _, q in parts(prediction)])
    return square - 2 * prediction.at(true_labels(truth)) + 1


# ---- bins of confidence: equal in width, or equal in the number of tasks


def equal(sure: Floats, bins: int) -> Ints:
    """The bin of each probability, of `bins` equal ones; the lower edge is out, the upper one in."""
    if bins < 1:
        raise OptionError(f"bins must be 1 or more; got {bins}")
    return np.digitize(sure, np.linspace(0, 1, bins + 1)[1:-1], right=True)


def filled(sure: Floats, size: int) -> tuple[Ints, int]:
    """The bin of each task, `size` tasks a bin from the least sure on, what is left over in the last; and their number."""
    if size < 1:
        raise OptionError(f"the size of a bin must be 1 or more; got {size}")
    n_bins = max(len(sure) // size, 1)
    place = np.empty(len(sure), np.int64)
    place[np.argsort(sure, kind="stable")] = np.minimum(np.arange(len(sure)) // size, n_bins - 1)
    return place, n_bins


def edges(sure: Floats, bins: int, size: int | None) -> tuple[Ints, Floats, Floats]:
    """The bin of each task, and where every bin begins and ends."""
    if size is None:
        at = np.linspace(0, 1, bins + 1)
        return equal(sure, bins), at[:-1], at[1:]
    place, n_bins = filled(sure, size)
    first = np.minimum(np.arange(n_bins) * size, len(sure) - 1)
    ranked = np.sort(sure)
    return place, ranked[first], ranked[np.append(first[1:] - 1, len(sure) - 1)]


def tied_mean(hit: Floats, sure: Floats) -> Floats:
    """(n_tasks,) the hits, shared evenly among the tasks of the same confidence."""
    _, level = np.unique(sure, return_inverse=True)
    return (np.bincount(level, hit) / np.bincount(level))[level]


# ---- of all tasks; a resample keeps the bins of the tasks


def ece_tally(prediction: Rows, truth: Rows, ties: Ties, bins: int = BINS) -> Tally:
    """See `ece`: sum_b |sum of gaps in b| / n, where the gap of a task is its hit less its confidence."""
    hit, sure = hits_and_confidence(prediction, truth, ties)
    pieces = [(np.arange(len(hit)), equal(sure, bins), hit - sure)]
    return Tally(len(hit), bins, lambda: pieces, lambda sums, n: np.abs(sums).sum(1) / n)


def rms_calibration_tally(prediction: Rows, truth: Rows, ties: Ties, size: int = SIZE, compat: bool = False) -> Tally:
    """See `rms_calibration`: sqrt(sum_b (sum of gaps in b)^2 / n_b / n); with `compat` without the last bin."""
    hit, sure = hits_and_confidence(prediction, truth, ties)
    if compat and len(hit) < size:
        raise InputError(f"with compat a bin of {size} tasks must be full; there are {len(hit)} tasks: lower the size")
    hit = hit if compat else tied_mean(hit, sure)
    place, n_bins = filled(sure, size)
    tasks = np.arange(len(hit))
    pieces = [(tasks, place, hit - sure), (tasks, n_bins + place, np.ones(len(hit)))]

    def finish(sums: Floats, n: Floats) -> Floats:
        gap, inside = (part[:, : n_bins - 1] if compat else part for part in np.split(sums, 2, axis=1))
        return np.sqrt((gap**2 / np.maximum(inside, 1)).sum(1) / n)

    return Tally(len(hit), 2 * n_bins, lambda: pieces, finish)


def classwise_ece_tally(prediction: Rows, truth: Rows, bins: int = BINS) -> Tally:
    """See `classwise_ece`: (1 / K) sum_k sum_b |sum of gaps of label k in b| / n."""
    n_labels, true = prediction.n_labels, true_labels(truth)

    def pieces() -> Iterator[Piece]:
        label = np.arange(n_labels)
        for where, q in parts(prediction):
            rows = np.arange(where.start, where.stop)[:, None]
            yield rows, label * bins + equal(q, bins), (true[rows] == label) - q

    return Tally(len(prediction), n_labels * bins, pieces, lambda sums, n: np.abs(sums).sum(1) / n / n_labels)
