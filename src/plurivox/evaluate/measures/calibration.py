"""Calibration measures, which compare predicted probabilities with observed frequencies: ECE, Brier score, NLL and others.

Each takes (prediction, truth) and uses the tasks both have. The true label is the most probable one of the truth; the
confidence of a prediction is the probability of its most probable label.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats, Ints
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Rows
from plurivox.evaluate.align_tasks_and_labels import align_rows, slices_and_float64_row_blocks
from plurivox.evaluate.bootstrap_over_tasks import Contribution, TaskSums, mean_as_task_sums
from plurivox.evaluate.measures.hard_label_measures import Ties, hits, true_labels

NLL_CLIP = 1e-6  # probabilities are clipped to at least this before the logarithm
BINS = 15  # number of equal-width bins of confidence
BIN_SIZE = 100  # tasks per bin, for bins of equal size


@takes_what_users_hold
def nll(prediction: SoftLabels, truth: SoftLabels, *, clip: float = NLL_CLIP) -> float:
    """Return the negative log-likelihood of the true label, mean of -log q(true) in nats, with q at least `clip`.

    The clip bounds the loss of a single confident mistake: -log 1e-6 = 13.8. Good (1952), https://doi.org/10.1111/j.2517-6161.1952.tb00104.x

    >>> prediction = SoftLabels.of([[.5, .5], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> round(nll(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"])), 4)
    7.2543
    """
    return mean_as_task_sums(log_losses(*align_rows(prediction, truth), clip)).measure_over_all_tasks


@takes_what_users_hold
def brier(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the Brier score: the mean of sum_k (q_k - 1[k is true])^2 over all labels, 0 to 2.

    Brier (1950), https://doi.org/10.1175/1520-0493(1950)078%3C0001:VOFEIT%3E2.0.CO;2

    >>> prediction = SoftLabels.of([[.5, .5], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> brier(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    1.25
    """
    return mean_as_task_sums(brier_scores_per_task(*align_rows(prediction, truth))).measure_over_all_tasks


@takes_what_users_hold
def ece(prediction: SoftLabels, truth: SoftLabels, *, bins: int = BINS, ties: Ties = "first") -> float:
    """Return the expected calibration error: the mean distance between confidence and accuracy over bins of confidence.

    sum_b n_b / n |accuracy_b - confidence_b| over `bins` equal bins (lower edge excluded, upper included), computed over
    all tasks: the mean over batches is larger. Ties as in `accuracy`.
    Guo et al. (2017), https://doi.org/10.48550/arXiv.1706.04599

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> ece(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.7
    """
    return ece_task_sums(*align_rows(prediction, truth), ties, bins).measure_over_all_tasks


@takes_what_users_hold
def classwise_ece(prediction: SoftLabels, truth: SoftLabels, *, bins: int = BINS) -> float:
    """Return the classwise expected calibration error: the calibration error of each label's probability, averaged over labels.

    (1 / K) sum_k sum_b n_bk / n |share of tasks whose true label is k - mean q_k| over `bins` equal bins of q_k.
    Kull et al. (2019), https://doi.org/10.48550/arXiv.1910.12656

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> classwise_ece(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.7
    """
    return classwise_ece_task_sums(*align_rows(prediction, truth), bins).measure_over_all_tasks


@takes_what_users_hold
def rms_calibration(
    prediction: SoftLabels, truth: SoftLabels, *, size: int = BIN_SIZE, compat: bool = False, ties: Ties = "first"
) -> float:
    """Return the root mean square calibration error over bins of equal size: sqrt(sum_b n_b / n (accuracy_b - confidence_b)^2).

    Tasks are sorted by confidence; every bin has `size` of them, and the last one also the remaining ones. Tasks of the same
    confidence share their hits, so that their order does not matter. Nguyen and O'Connor (2015), https://doi.org/10.48550/arXiv.1508.05154

    `compat=True` is the number that the released code of PixMix gives, Hendrycks et al. (2022),
    https://doi.org/10.48550/arXiv.2112.05135, and so Collins et al. (2022): it ignores the last, most confident bin, so it
    is 0 below 2 `size` tasks, and it needs at least `size` tasks.

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> truth = SoftLabels.gold(["a", "b"], ["yes", "yes"])
    >>> round(rms_calibration(prediction, truth, size=1), 4), round(rms_calibration(prediction, truth, size=1, compat=True), 4)
    (0.7616, 0.2828)
    """
    return rms_calibration_task_sums(*align_rows(prediction, truth), ties, size, compat).measure_over_all_tasks


@takes_what_users_hold
def aurra(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """Return the area under the response rate accuracy curve: how well confidence ranks correct predictions first.

    The mean over j of the accuracy on the j tasks of highest confidence; tasks of the same confidence share their hits.
    Hendrycks et al. (2022), https://doi.org/10.48550/arXiv.2112.05135

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> aurra(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]))
    0.25
    """
    hit, confidence = hits_and_confidence(*align_rows(prediction, truth), ties)
    ranked = mean_hit_at_equal_confidence(hit, confidence)[np.argsort(-confidence, kind="stable")]
    return float((np.cumsum(ranked) / np.arange(1, len(ranked) + 1)).mean())


@dataclass(frozen=True, eq=False, repr=False)
class Reliability(DataType):
    """The data of a reliability diagram: one row per bin of confidence; NaN if a bin has no task."""

    low: Floats  # (n_bins,) lower edge of the bin; the edge itself belongs to the bin below
    high: Floats  # (n_bins,) upper edge
    n: Ints  # (n_bins,) number of tasks
    confidence: Floats  # (n_bins,) their mean confidence
    accuracy: Floats  # (n_bins,) the share of correct predictions

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per bin of confidence, as columns: low, high, n, confidence, accuracy."""
        return {name: getattr(self, name) for name in ("low", "high", "n", "confidence", "accuracy")}

    def summary_values(self) -> dict[str, object]:
        return {"bins": len(self.n), "tasks": int(self.n.sum())}


@takes_what_users_hold
def reliability(
    prediction: SoftLabels, truth: SoftLabels, *, bins: int = BINS, size: int | None = None, ties: Ties = "first"
) -> Reliability:
    """Return the data of a reliability diagram: mean confidence and accuracy in bins of equal width, or of `size` tasks each.

    DeGroot and Fienberg (1983), https://doi.org/10.2307/2987588

    >>> prediction = SoftLabels.of([[.4, .6], [1, 0]], ["a", "b"], ["no", "yes"])
    >>> found = reliability(prediction, SoftLabels.gold(["a", "b"], ["yes", "yes"]), bins=2)
    >>> found.n.tolist(), found.confidence.tolist(), found.accuracy.tolist()
    ([0, 2], [nan, 0.8], [nan, 0.5])
    """
    hit, confidence = hits_and_confidence(*align_rows(prediction, truth), ties)
    place, low, high = bins_of_tasks_and_edges(confidence, bins, size)
    n = np.bincount(place, minlength=len(low))
    divisor = np.where(n > 0, n, np.nan)
    hit = hit if size is None else mean_hit_at_equal_confidence(hit, confidence)
    return Reliability(low, high, n, *(np.bincount(place, x, minlength=len(low)) / divisor for x in (confidence, hit)))


# ---- values of each task


def hits_and_confidence(prediction: Rows, truth: Rows, ties: Ties) -> tuple[Floats, Floats]:
    """Return (n_tasks,) 1 if the prediction is correct, else 0, and (n_tasks,) the probability of the predicted label."""
    return hits(prediction, truth, ties), prediction.top_label_codes_and_probs(1)[1][:, 0].astype(np.float64)


def log_losses(prediction: Rows, truth: Rows, clip: float = NLL_CLIP) -> Floats:
    """Return (n_tasks,) -log of the probability predicted for the true label, which is raised to at least `clip`."""
    return -np.log(np.maximum(prediction.prob_of_labels(true_labels(truth)).astype(np.float64), clip))


def brier_scores_per_task(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the Brier score of each task: sum_k (q_k - 1[k is true])^2 over its labels."""
    square = np.concatenate([(q**2).sum(1) for _, q in slices_and_float64_row_blocks(prediction)])
    return square - 2 * prediction.prob_of_labels(true_labels(truth)) + 1


# ---- bins of confidence: of equal width, or of equal numbers of tasks


def equal_width_bins(confidence: Floats, n_bins: int) -> Ints:
    """Return the bin of each probability among `n_bins` bins of equal width; the lower edge is excluded, the upper included."""
    if n_bins < 1:
        raise OptionError(f"bins must be 1 or more; got {n_bins}")
    return np.digitize(confidence, np.linspace(0, 1, n_bins + 1)[1:-1], right=True)


def equal_size_bins_and_count(confidence: Floats, tasks_per_bin: int) -> tuple[Ints, int]:
    """Return (n_tasks,) the bin of each task, `tasks_per_bin` in each by increasing confidence, and the number of bins."""
    if tasks_per_bin < 1:
        raise OptionError(f"the size of a bin must be 1 or more; got {tasks_per_bin}")
    n_bins = max(len(confidence) // tasks_per_bin, 1)
    place = np.empty(len(confidence), np.int64)
    place[np.argsort(confidence, kind="stable")] = np.minimum(np.arange(len(confidence)) // tasks_per_bin, n_bins - 1)
    return place, n_bins


def bins_of_tasks_and_edges(
    confidence: Floats, n_bins_if_equal_width: int, tasks_per_bin: int | None
) -> tuple[Ints, Floats, Floats]:
    """Return (n_tasks,) the confidence bin of each task, and (n_bins,) the lower and (n_bins,) the upper edges of the bins."""
    if tasks_per_bin is None:
        at = np.linspace(0, 1, n_bins_if_equal_width + 1)
        return equal_width_bins(confidence, n_bins_if_equal_width), at[:-1], at[1:]
    place, n_bins = equal_size_bins_and_count(confidence, tasks_per_bin)
    first = np.minimum(np.arange(n_bins) * tasks_per_bin, len(confidence) - 1)
    ranked = np.sort(confidence)
    return place, ranked[first], ranked[np.append(first[1:] - 1, len(confidence) - 1)]


def mean_hit_at_equal_confidence(hit: Floats, confidence: Floats) -> Floats:
    """Return (n_tasks,) for each task the mean hit (1 if correct) of all tasks with exactly the same confidence."""
    _, level = np.unique(confidence, return_inverse=True)
    return (np.bincount(level, hit) / np.bincount(level))[level]


# ---- as sums over tasks; resampling does not change the bins


def ece_task_sums(
    prediction: Rows, truth: Rows, ties: Ties, bins: int = BINS, tasks_per_bin: int | None = None
) -> TaskSums:
    """Return the expected calibration error as sums over tasks: sum_b |sum of (hit - confidence) in bin b| / n.

    Bins are of equal width, or of `tasks_per_bin` tasks each, among which tasks of the same confidence are divided evenly.
    """
    hit, confidence = hits_and_confidence(prediction, truth, ties)
    place, low, _ = bins_of_tasks_and_edges(confidence, bins, tasks_per_bin)
    task, column, share = tasks_divided_among_bins(confidence, place)
    contributions = [(task, column, share * (hit - confidence)[task])]
    return TaskSums(len(hit), len(low), lambda: contributions, lambda sums, n: np.abs(sums).sum(1) / n)


def tasks_divided_among_bins(confidence: Floats, place: Ints) -> tuple[Ints, Ints, Floats]:
    """Return (task, bin, share) of all tasks and their bins: tasks of the same confidence have the same shares of their bins.

    >>> task, column, share = tasks_divided_among_bins(np.array([0.5, 0.5, 0.9]), np.array([0, 1, 1]))
    >>> task.tolist(), column.tolist(), share.tolist()
    ([0, 1, 0, 1, 2], [0, 0, 1, 1, 1], [0.5, 0.5, 0.5, 0.5, 1.0])
    """
    n_bins = int(place.max(initial=0)) + 1
    _, level, level_size = np.unique(confidence, return_inverse=True, return_counts=True)
    pairs, n_inside = np.unique(level * n_bins + place, return_counts=True)
    of_level, column = np.divmod(pairs, n_bins)
    n = level_size[of_level]  # all tasks of the level are in each of its bins, in part
    first = (np.cumsum(level_size) - level_size)[of_level]
    rows = np.arange(n.sum()) + np.repeat(first - (np.cumsum(n) - n), n)
    return np.argsort(level, kind="stable")[rows], np.repeat(column, n), np.repeat(n_inside / n, n)


def rms_calibration_task_sums(
    prediction: Rows, truth: Rows, ties: Ties, size: int = BIN_SIZE, compat: bool = False
) -> TaskSums:
    """Return the RMS calibration error as sums over tasks: sqrt(sum_b (sum of hit - confidence in bin b)^2 / n_b / n)."""
    hit, confidence = hits_and_confidence(prediction, truth, ties)
    if compat and len(hit) < size:
        raise InputError(f"compat needs at least one full bin of {size} tasks; there are {len(hit)} tasks: reduce size")
    hit = hit if compat else mean_hit_at_equal_confidence(hit, confidence)
    place, n_bins = equal_size_bins_and_count(confidence, size)
    tasks = np.arange(len(hit))
    contributions = [(tasks, place, hit - confidence), (tasks, n_bins + place, np.ones(len(hit)))]

    def rms_calibration_from_bin_sums(sums: Floats, n: Floats) -> Floats:
        """Return the RMS calibration error from each bin's sum of (hit - confidence) and number of tasks."""
        gap, inside = (part[:, : n_bins - 1] if compat else part for part in np.split(sums, 2, axis=1))
        return np.sqrt((gap**2 / np.maximum(inside, 1)).sum(1) / n)

    return TaskSums(len(hit), 2 * n_bins, lambda: contributions, rms_calibration_from_bin_sums)


def classwise_ece_task_sums(prediction: Rows, truth: Rows, bins: int = BINS) -> TaskSums:
    """Return the calibration error per label as sums over tasks: (1 / K) sum_k sum_b |sum of (1[k is true] - q_k) in b| / n."""
    n_labels, true = prediction.n_labels, true_labels(truth)

    def yield_truth_minus_prob_per_task_and_bin() -> Iterator[Contribution]:
        """Yield (task, bin of the label's probability, 1[label is true] - probability) for all labels, in blocks of tasks."""
        label = np.arange(n_labels)
        for where, q in slices_and_float64_row_blocks(prediction):
            rows = np.arange(where.start, where.stop)[:, None]
            yield rows, label * bins + equal_width_bins(q, bins), (true[rows] == label) - q

    return TaskSums(
        len(prediction),
        n_labels * bins,
        yield_truth_minus_prob_per_task_and_bin,
        lambda sums, n: np.abs(sums).sum(1) / n / n_labels,
    )
