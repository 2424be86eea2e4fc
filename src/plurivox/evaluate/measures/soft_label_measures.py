"""Measures between two distributions over labels: their distance, and whether their entropies agree.

Each takes (prediction, truth) and compares the tasks that both have: q is the prediction, p the truth. Distances are averaged
over tasks.
Normalised entropies are divided by log K, so they are between 0 and 1 for any number K of labels.
"""

from collections.abc import Iterator
from functools import partial
from typing import Literal

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Dense, Rows
from plurivox.evaluate.align_tasks_and_labels import (
    align_rows,
    prediction_and_truth_blocks,
    slices_and_float64_row_blocks,
    values_per_task,
)
from plurivox.evaluate.bootstrap_over_tasks import (
    Contribution,
    TaskSums,
    mean_as_task_sums,
    mean_of_column_ratios_of_halves,
    ratio_of_totals_of_halves,
)

CLIP = 1e-12  # probabilities are clipped to at least this before the logarithm
SMOOTHING = 0.01  # share of the uniform distribution that is mixed into a prediction in `smoothed_cross_entropy`
MIN_VARIATION = 1e-9  # entropies that vary less than this count as constant


@takes_what_users_hold
def cross_entropy(prediction: SoftLabels, truth: SoftLabels, *, clip: float = CLIP) -> float:
    """Return the mean cross-entropy -sum_k p_k log q_k in nats, where p is the truth and q the prediction, at least `clip`.

    Uma et al. (2020), section 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(cross_entropy(prediction, truth), 4)
    0.6931
    """
    return mean_as_task_sums(cross_entropies(*align_rows(prediction, truth), clip)).measure_over_all_tasks


@takes_what_users_hold
def smoothed_cross_entropy(prediction: SoftLabels, truth: SoftLabels, *, smoothing: float = SMOOTHING) -> float:
    """Return the mean cross-entropy -sum_k p_k log((1 - s) q_k + s / K) in nats: the uniform distribution is mixed in.

    p is the truth, q the prediction, K the number of labels, s the `smoothing`. A label that the prediction excludes costs at
    most log(K / s), 6.9 nats for ten labels, and a perfect prediction loses at most -log(1 - s), .01: unlike with a clip at
    1e-12, the value does not depend mainly on a few labels with probability 0. Linear mixing (Jelinek-Mercer smoothing):
    Chen and Goodman (1999), https://doi.org/10.1006/csla.1999.0128

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([0, 1], [.2, .8]))
    >>> round(smoothed_cross_entropy(prediction, truth), 4), round(cross_entropy(prediction, truth), 4)
    (1.0637, 5.5262)
    """
    rows = align_rows(prediction, truth)
    return mean_as_task_sums(smoothed_cross_entropies(*rows, smoothing)).measure_over_all_tasks


@takes_what_users_hold
def kl_divergence(prediction: SoftLabels, truth: SoftLabels, *, clip: float = CLIP) -> float:
    """Return the mean divergence of the prediction q from the truth p: KL(p || q) = sum_k p_k log(p_k / q_k) in nats.

    q is at least `clip`. It penalises low predicted probability for labels that the truth has. Cross-entropy is this plus
    the entropy of the truth. Kullback and Leibler (1951), https://doi.org/10.1214/aoms/1177729694

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(kl_divergence(prediction, truth), 4)
    0.1927
    """
    return mean_as_task_sums(kl_divergences(*align_rows(prediction, truth), clip)).measure_over_all_tasks


@takes_what_users_hold
def inverse_kl_divergence(prediction: SoftLabels, truth: SoftLabels, *, clip: float = CLIP) -> float:
    """Return the mean divergence of the truth p from the prediction q: KL(q || p) = sum_k q_k log(q_k / p_k) in nats.

    p is at least `clip`. It penalises predicted probability for labels that the truth has not; a truth of few votes has zeros,
    and then the value depends mainly on the clip. Fornaciari et al. (2021), eq. 3, https://doi.org/10.18653/v1/2021.naacl-main.204

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(inverse_kl_divergence(prediction, truth), 4)
    0.2231
    """
    return mean_as_task_sums(inverse_kl_divergences(*align_rows(prediction, truth), clip)).measure_over_all_tasks


@takes_what_users_hold
def jensen_shannon_divergence(prediction: SoftLabels, truth: SoftLabels, *, base: float = np.e) -> float:
    """Return the mean over tasks of the Jensen-Shannon divergence (KL(p || m) + KL(q || m)) / 2, with m = (p + q) / 2.

    Its maximum is log 2 in nats, 1 in bits (`base=2`). It is not a metric; its square root is, see
    `jensen_shannon_distance`. PO-JSD of Kurniawan et al. (2026) is 1 minus the value in bits.
    Lin (1991), https://doi.org/10.1109/18.61115

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([1, 0], [.5, .5]))
    >>> round(jensen_shannon_divergence(prediction, truth), 4), round(jensen_shannon_divergence(prediction, truth, base=2), 4)
    (0.2158, 0.3113)
    """
    return mean_as_task_sums(jensen_shannon_divergences(*align_rows(prediction, truth))).measure_over_all_tasks / float(
        np.log(base)
    )


@takes_what_users_hold
def jensen_shannon_distance(prediction: SoftLabels, truth: SoftLabels, *, base: float = np.e) -> float:
    """Return the mean over tasks of the square root of the Jensen-Shannon divergence, which is a metric.

    scipy's `jensenshannon` and the published "JSD" of Uma et al. (2021), https://doi.org/10.1613/jair.1.12752, are this one,
    in nats. Endres and Schindelin (2003), https://doi.org/10.1109/TIT.2003.813506

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([1, 0], [.5, .5]))
    >>> round(jensen_shannon_distance(prediction, truth), 4)
    0.4645
    """
    return mean_as_task_sums(jensen_shannon_distances(*align_rows(prediction, truth))).measure_over_all_tasks / float(
        np.sqrt(np.log(base))
    )


@takes_what_users_hold
def total_variation(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the mean over tasks of the total variation 1/2 sum_k |p_k - q_k| between prediction and truth, 0 to 1.

    Levin, Peres and Wilmer (2009), Markov Chains and Mixing Times, section 4.1, https://doi.org/10.1090/mbk/058

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(total_variation(prediction, truth), 4)
    0.3
    """
    return mean_as_task_sums(total_variations(*align_rows(prediction, truth))).measure_over_all_tasks


@takes_what_users_hold
def manhattan(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the mean Manhattan distance sum_k |p_k - q_k| over tasks, 0 to 2: twice the total variation.

    The soft measure of the LeWiDi-2025 shared task for nominal labels. Leonardelli et al. (2025),
    https://doi.org/10.48550/arXiv.2510.08460

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(manhattan(prediction, truth), 4)
    0.6
    """
    return mean_as_task_sums(manhattan_distances(*align_rows(prediction, truth))).measure_over_all_tasks


@takes_what_users_hold
def soft_accuracy(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the mean over tasks of the probability that prediction q and truth p share: sum_k min(p_k, q_k).

    Rows sum to one here, so it is 1 - `total_variation`; for one-hot rows it is the accuracy.
    Kurniawan et al. (2026), https://doi.org/10.1162/coli.a.578

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(soft_accuracy(prediction, truth), 4)
    0.7
    """
    return mean_as_task_sums(shared_probabilities(*align_rows(prediction, truth))).measure_over_all_tasks


@takes_what_users_hold
def soft_micro_f1(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the soft micro F1 over all tasks i and labels k: 2 sum_ik min(p, q) / sum_ik (p + q).

    Rows sum to one here, so it equals `soft_accuracy` and 1 - `total_variation`; it differs if several labels may be true
    for one task. Kurniawan et al. (2026), https://doi.org/10.1162/coli.a.578

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(soft_micro_f1(prediction, truth), 4)
    0.7
    """
    return soft_f1_task_sums(*align_rows(prediction, truth), "micro").measure_over_all_tasks


@takes_what_users_hold
def soft_macro_f1(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the mean over labels of the soft F1 of each label: F_k = 2 sum_i min(p, q) / sum_i (p + q) over tasks i.

    Kurniawan et al. (2026), https://doi.org/10.1162/coli.a.578

    >>> prediction, truth = (SoftLabels.of([row], ["a"], ["no", "yes"]) for row in ([.5, .5], [.2, .8]))
    >>> round(soft_macro_f1(prediction, truth), 4)
    0.6703
    """
    return soft_f1_task_sums(*align_rows(prediction, truth), "macro").measure_over_all_tasks


@takes_what_users_hold
def entropy_correlation(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the Pearson correlation over tasks between the normalised entropies H(q) / log K and H(p) / log K.

    NaN if either side has the same entropy on every task, as gold labels have.
    Uma et al. (2020), section 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> prediction = SoftLabels.of([[.5, .5], [.9, .1], [.8, .2]], "abc", ["no", "yes"])
    >>> truth = SoftLabels.of([[.6, .4], [1, 0], [1, 0]], "abc", ["no", "yes"])
    >>> round(entropy_correlation(prediction, truth), 4)
    0.8794
    """
    return entropy_correlation_or_cosine_task_sums(*align_rows(prediction, truth), centred=True).measure_over_all_tasks


@takes_what_users_hold
def entropy_similarity(prediction: SoftLabels, truth: SoftLabels) -> float:
    """Return the cosine similarity between the normalised entropies of all tasks, 0 to 1; NaN if one side has entropy 0.

    Uma et al. (2021), section 5, https://doi.org/10.1613/jair.1.12752

    >>> prediction = SoftLabels.of([[.5, .5], [.9, .1], [.8, .2]], "abc", ["no", "yes"])
    >>> truth = SoftLabels.of([[.6, .4], [1, 0], [1, 0]], "abc", ["no", "yes"])
    >>> round(entropy_similarity(prediction, truth), 4)
    0.7579
    """
    return entropy_correlation_or_cosine_task_sums(*align_rows(prediction, truth), centred=False).measure_over_all_tasks


# ---- values of each task, from the rows of the prediction, q, and of the truth, p


def cross_entropies(prediction: Rows, truth: Rows, clip: float = CLIP) -> Floats:
    """Return (n_tasks,) the cross-entropy -sum_k p_k log q_k of each task; p is the truth, q the prediction."""
    return values_per_task(lambda q, p: -(p * np.log(np.maximum(q, clip))).sum(1), prediction, truth)


def smoothed_cross_entropies(prediction: Rows, truth: Rows, smoothing: float = SMOOTHING) -> Floats:
    """Return (n_tasks,) the cross-entropy of each task after mixing the uniform distribution into the prediction."""

    def cross_entropy_of_rows(q: Floats, p: Floats) -> Floats:
        """Return (n,) the cross-entropy of each row of p and the smoothed q."""
        return -(p * np.log((1 - smoothing) * q + smoothing / q.shape[1])).sum(1)

    return values_per_task(cross_entropy_of_rows, prediction, truth)


def kl_divergences(prediction: Rows, truth: Rows, clip: float = CLIP) -> Floats:
    """Return (n_tasks,) the divergence KL(p || q) of the prediction q from the truth p of each task."""
    return values_per_task(lambda q, p: _row_kl_divergences(p, np.maximum(q, clip)), prediction, truth)


def inverse_kl_divergences(prediction: Rows, truth: Rows, clip: float = CLIP) -> Floats:
    """Return (n_tasks,) the divergence KL(q || p) of the truth p from the prediction q of each task."""
    return kl_divergences(truth, prediction, clip)


def jensen_shannon_divergences(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the Jensen-Shannon divergence between prediction and truth of each task, in nats."""

    def jensen_shannon_of_rows(q: Floats, p: Floats) -> Floats:
        """Return (n,) the Jensen-Shannon divergence between q and p in each row."""
        middle = (p + q) / 2
        return np.maximum(_row_kl_divergences(p, middle) + _row_kl_divergences(q, middle), 0) / 2

    return values_per_task(jensen_shannon_of_rows, prediction, truth)


def jensen_shannon_distances(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the square root of the Jensen-Shannon divergence of each task."""
    return np.sqrt(jensen_shannon_divergences(prediction, truth))


def total_variations(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the total variation 1/2 sum_k |p_k - q_k| of each task."""
    return values_per_task(lambda q, p: np.abs(p - q).sum(1) / 2, prediction, truth)


def manhattan_distances(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the Manhattan distance sum_k |p_k - q_k| of each task."""
    return values_per_task(lambda q, p: np.abs(p - q).sum(1), prediction, truth)


def shared_probabilities(prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) the probability that prediction and truth share on each task: sum_k min(p_k, q_k)."""
    return values_per_task(lambda q, p: np.minimum(p, q).sum(1), prediction, truth)


def normalised_entropies(rows: Rows) -> Floats:
    """Return (n_tasks,) the entropy of each task's soft label divided by log(number of labels), 0 to 1."""
    # a block fits the cache
    contributions = (
        [Dense(block) for _, block in slices_and_float64_row_blocks(rows)] if isinstance(rows, Dense) else [rows]
    )
    entropy = np.concatenate([piece.entropy_per_row() for piece in contributions])
    return np.maximum(entropy, 0) / (np.log(rows.n_labels) if rows.n_labels > 1 else 1)


def _row_kl_divergences(p: Floats, q: Floats) -> Floats:
    """Return (n,) the Kullback-Leibler divergence sum_k p_k log(p_k / q_k) of each row of p and q."""
    return (p * np.log(np.where(p > 0, p, 1) / np.where(p > 0, q, 1))).sum(1)


# ---- as sums over tasks


def soft_f1_task_sums(prediction: Rows, truth: Rows, average: Literal["micro", "macro"]) -> TaskSums:
    """Return the soft micro or macro F1 as sums over tasks: of 2 min(p, q) and of p + q for each label."""
    label = np.arange(prediction.n_labels)

    def yield_overlap_and_total_per_task_label() -> Iterator[Contribution]:
        """Yield (task, column, number) for blocks of tasks: 2 min(p, q) of each label, then p + q of each label."""
        begin = 0
        for q, p in prediction_and_truth_blocks(prediction, truth):
            rows = np.arange(begin, begin + len(q))[:, None]
            yield rows, label, 2 * np.minimum(p, q)
            yield rows, len(label) + label, p + q
            begin += len(q)

    return TaskSums(
        len(prediction),
        2 * len(label),
        yield_overlap_and_total_per_task_label,
        mean_of_column_ratios_of_halves if average == "macro" else ratio_of_totals_of_halves,
    )


def entropy_correlation_or_cosine_task_sums(prediction: Rows, truth: Rows, centred: bool) -> TaskSums:
    """Return the correlation (centred) or cosine of the entropies x of the prediction and y of the truth as sums over tasks."""
    x, y = normalised_entropies(prediction), normalised_entropies(truth)
    if centred:  # for numerical precision of the squares
        x, y = x - x.mean(), y - y.mean()
    contributions = [(np.arange(len(x))[:, None], np.arange(5), np.column_stack([x, y, x * x, y * y, x * y]))]

    return TaskSums(len(x), 5, lambda: contributions, partial(correlation_or_cosine_from_sums, centred=centred))


def correlation_or_cosine_from_sums(sums: Floats, n: Floats, centred: bool) -> Floats:
    """Return the Pearson correlation (or cosine) from the sums of x, y, xx, yy, xy and n; NaN if x or y does not vary."""
    x, y, xx, yy, xy = (sums / n[:, None]).T
    if centred:
        xx, yy, xy = xx - x * x, yy - y * y, xy - x * y
    varies = (xx > MIN_VARIATION**2) & (yy > MIN_VARIATION**2)
    return np.where(varies, xy / np.sqrt(np.where(varies, xx * yy, 1)), np.nan)
