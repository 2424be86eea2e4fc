"""Measures of the most probable label: accuracy, top-k accuracy, precision, recall and F1.

Each takes (prediction, truth) and compares the tasks that both have. The true label is the most probable one of the truth.
If labels of the prediction tie, the `first` is used, or the task is `share`d evenly among them, which is the expected value
of random tie-breaking.

Precision, recall and F1 of label k: precision = hits / tasks predicted as k, recall = hits / tasks whose true label is k,
F1 = 2 hits / (the sum of both). `macro` is the mean over the labels that occur on either side, `weighted` weights them by the
number of tasks with that true label, `micro` sums over labels first: with one label per task all three are then the accuracy.
A ratio without tasks counts as 0.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import OptionError, unknown_name_error
from plurivox.core.name_encoding import as_text
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Rows
from plurivox.evaluate.align_tasks_and_labels import (
    align_rows,
    prediction_labels_then_truth_only,
    slices_and_float64_row_blocks,
)
from plurivox.evaluate.bootstrap_over_tasks import TaskSums, mean_as_task_sums, mean_of_column_ratios_of_halves

Ties = Literal["first", "share"]
Average = Literal["macro", "weighted", "micro"]
TIE_TOLERANCE = 1e-9  # probabilities this close to the highest are tied with it


@takes_what_users_hold
def accuracy(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """Return the accuracy: the share of tasks whose most probable predicted label is the true label.

    If labels tie, the `first` is used, or the hit is `share`d: 1 / (number of tied labels) if the true one is
    among them, which is the expected value of random tie-breaking.

    >>> prediction = SoftLabels.of([[.5, .5], [.2, .8]], ["a", "b"], ["no", "yes"])
    >>> truth = SoftLabels.gold(["a", "b"], ["yes", "yes"])
    >>> accuracy(prediction, truth), accuracy(prediction, truth, ties="share")
    (0.5, 0.75)
    """
    return mean_as_task_sums(hits(*align_rows(prediction, truth), ties)).measure_over_all_tasks


@takes_what_users_hold
def balanced_accuracy(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """Return the balanced accuracy: the accuracy on the tasks of each true label, averaged over the labels that occur.

    (1 / K) sum_k (hits on tasks of label k / tasks of label k).
    Brodersen et al. (2010), https://doi.org/10.1109/ICPR.2010.764

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "no"], labels=["no", "yes"])
    >>> balanced_accuracy(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"]))
    0.5
    """
    return balanced_accuracy_task_sums(*align_rows(prediction, truth), ties).measure_over_all_tasks


@takes_what_users_hold
def top_k_accuracy(
    prediction: SoftLabels,
    truth: SoftLabels,
    *,
    k: int = 5,
    average: Literal["micro", "macro"] = "micro",
    ties: Ties = "first",
) -> float:
    """Return the share of tasks whose true label is among the k most probable; `macro` averages over true labels.

    If labels tie for place k, the first ones are used, or the remaining places are `share`d among them.
    Russakovsky et al. (2015), section 4.1, https://doi.org/10.1007/s11263-015-0816-y

    >>> prediction = SoftLabels.of([[.5, .3, .2], [.5, .3, .2]], ["a", "b"], ["x", "y", "z"])
    >>> top_k_accuracy(prediction, SoftLabels.gold(["a", "b"], ["y", "z"]), k=2)
    0.5
    """
    left, right = align_rows(prediction, truth)
    found = (
        mean_as_task_sums(top_k_hits(left, right, ties, k))
        if average == "micro"
        else macro_top_k_accuracy_task_sums(left, right, ties, k)
    )
    return found.measure_over_all_tasks


@takes_what_users_hold
def confusion_counts(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> tuple[Floats, Names]:
    """Return the confusion matrix [true, predicted] of task counts, and the labels of its rows and columns.

    The labels are those of the prediction, then those that only the truth has.

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> table, labels = confusion_counts(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    >>> table.tolist(), labels.tolist()
    ([[1.0, 0.0], [1.0, 1.0]], ['no', 'yes'])
    """
    left, right = align_rows(prediction, truth)
    row, predicted, share = predicted_tasks_labels_and_tie_shares(left, ties)
    size, true = left.n_labels, true_labels(right)
    table = np.bincount(true[row] * size + predicted, share, minlength=size * size)
    return table.reshape(size, size).astype(np.float64, copy=False), prediction_labels_then_truth_only(
        prediction, truth
    )


@takes_what_users_hold
def precision(prediction: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Return the precision: the share of tasks predicted as a label whose true label it is, averaged over labels.

    P_k = hits_k / predicted_k, averaged over labels. Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> precision(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    0.75
    """
    return precision_task_sums(*align_rows(prediction, truth), ties, average).measure_over_all_tasks


@takes_what_users_hold
def recall(prediction: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Return the recall: the share of tasks with a true label that are predicted as that label, averaged over labels.

    R_k = hits_k / true_k, averaged over labels; `balanced_accuracy` excludes labels that are never true, recall does not.
    Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> recall(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    0.75
    """
    return recall_task_sums(*align_rows(prediction, truth), ties, average).measure_over_all_tasks


@takes_what_users_hold
def f1(prediction: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Return the F1 score: the harmonic mean of precision and recall of each label, averaged over labels.

    F_k = 2 hits_k / (predicted_k + true_k). Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> round(f1(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"])), 4)
    0.6667
    """
    return f1_task_sums(*align_rows(prediction, truth), ties, average).measure_over_all_tasks


@takes_what_users_hold
def majority_baseline(truth: SoftLabels) -> tuple[str, float]:
    """Return the most frequent true label and its share of the tasks: the accuracy of always predicting it.

    >>> majority_baseline(SoftLabels.gold(["a", "b", "c", "d"], ["no", "no", "yes", "no"]))
    ('no', 0.75)
    """
    return most_frequent_label_and_share(truth.body, truth.labels)


# ---- values of each task


def true_labels(truth: Rows) -> Ints:
    """Return (n_tasks,) the column number of the true label of each task: the most probable label of its row."""
    if isinstance(truth, Candidates) and len(truth.label) == len(truth) and not truth.rest.any():
        return truth.label.astype(np.int64)  # gold: one label per row, as no row is empty
    return truth.top_label_codes_and_probs(1)[0][:, 0]


def hits(prediction: Rows, truth: Rows, ties: Ties) -> Floats:
    """Return (n_tasks,) 1 if the most probable label is the true one, a fraction if ties are shared, else 0."""
    true = true_labels(truth)
    best, top = (column[:, 0] for column in prediction.top_label_codes_and_probs(1))
    if ties == "first":
        return (best == true).astype(np.float64)
    tied = np.zeros(len(prediction))
    for where, q in slices_and_float64_row_blocks(prediction):
        tied[where] = (q >= top[where, None] - TIE_TOLERANCE).sum(1)
    return (prediction.prob_of_labels(true) >= top - TIE_TOLERANCE) / tied


def top_k_hits(prediction: Rows, truth: Rows, ties: Ties, k: int) -> Floats:
    """Return (n_tasks,) 1 if the true label is among the k most probable, a fraction if it shares place k, else 0."""
    if k < 1:
        raise OptionError(f"k must be 1 or more; got {k}")
    true = true_labels(truth)
    own, hit = prediction.prob_of_labels(true), np.empty(len(prediction))
    for where, q in slices_and_float64_row_blocks(prediction):
        mine = own[where, None]
        if ties == "first":
            before = (q > mine) | ((q == mine) & (np.arange(q.shape[1]) < true[where, None]))
            hit[where] = before.sum(1) < k
        else:
            above, tied = (q > mine + TIE_TOLERANCE).sum(1), (np.abs(q - mine) <= TIE_TOLERANCE).sum(1)
            hit[where] = np.clip((k - above) / tied, 0, 1)
    return hit


def predicted_tasks_labels_and_tie_shares(prediction: Rows, ties: Ties) -> tuple[Ints, Ints, Floats]:
    """Return (task, label, share) arrays: the most probable label of each task, or each tied label with 1 / ties."""
    best, top = prediction.top_label_codes_and_probs(1)
    if ties == "first":
        return np.arange(len(prediction)), best[:, 0], np.ones(len(prediction))
    rows, labels = [], []
    for where, q in slices_and_float64_row_blocks(prediction):
        row, label = np.nonzero(q >= top[where] - TIE_TOLERANCE)
        rows.append(row + where.start)
        labels.append(label)
    row = np.concatenate(rows)
    return row, np.concatenate(labels), 1 / np.bincount(row)[row]


# ---- as sums over tasks


def most_frequent_label_and_share(truth: Rows, labels: Names) -> tuple[str, float]:
    """Return the name of the most frequent true label, and the share of tasks that have it."""
    n = np.bincount(true_labels(truth), minlength=len(labels))
    return str(as_text(labels)[int(n.argmax())]), float(n.max() / n.sum())


def balanced_accuracy_task_sums(prediction: Rows, truth: Rows, ties: Ties) -> TaskSums:
    """Return balanced accuracy as a function of sums over tasks, for the bootstrap."""
    return _mean_by_true_label_task_sums(hits(prediction, truth, ties), truth)


def macro_top_k_accuracy_task_sums(prediction: Rows, truth: Rows, ties: Ties, k: int) -> TaskSums:
    """Return macro top-k accuracy (averaged over true labels) as a function of sums over tasks, for the bootstrap."""
    return _mean_by_true_label_task_sums(top_k_hits(prediction, truth, ties, k), truth)


def _mean_by_true_label_task_sums(values: Floats, truth: Rows) -> TaskSums:
    """Return as sums over tasks the mean of `values` (n_tasks,) over the tasks of each true label, averaged over labels."""
    size, true, tasks = truth.n_labels, true_labels(truth), np.arange(len(truth))
    contributions = [(tasks, true, values), (tasks, size + true, np.ones(len(truth)))]
    return TaskSums(len(truth), 2 * size, lambda: contributions, mean_of_column_ratios_of_halves)


def precision_task_sums(prediction: Rows, truth: Rows, ties: Ties, average: Average) -> TaskSums:
    """Return precision as a function of sums over tasks, for the bootstrap."""
    return _hit_ratio_by_label_task_sums(prediction, truth, ties, average, lambda predicted, _: predicted)


def recall_task_sums(prediction: Rows, truth: Rows, ties: Ties, average: Average) -> TaskSums:
    """Return recall as a function of sums over tasks, for the bootstrap."""
    return _hit_ratio_by_label_task_sums(prediction, truth, ties, average, lambda _, true: true)


def f1_task_sums(prediction: Rows, truth: Rows, ties: Ties, average: Average) -> TaskSums:
    """Return the F1 score as a function of sums over tasks, for the bootstrap."""
    return _hit_ratio_by_label_task_sums(
        prediction, truth, ties, average, lambda predicted, true: (predicted + true) / 2
    )


def _hit_ratio_by_label_task_sums(
    prediction: Rows, truth: Rows, ties: Ties, average: Average, denominator: Callable[[Floats, Floats], Floats]
) -> TaskSums:
    """Return as sums over tasks the average over labels of hits / denominator(number predicted, number true)."""
    if average not in ("macro", "weighted", "micro"):
        raise unknown_name_error("average", average, ("macro", "weighted", "micro"))
    size, true = prediction.n_labels, true_labels(truth)
    row, predicted, share = predicted_tasks_labels_and_tie_shares(prediction, ties)
    hit = predicted == true[row]
    contributions = [
        (row[hit], predicted[hit], share[hit]),
        (row, size + predicted, share),
        (np.arange(len(prediction)), 2 * size + true, np.ones(len(prediction))),
    ]

    def average_ratio_from_label_sums(sums: Floats, _: Floats) -> Floats:
        """Return the average over labels of hits / denominator, from each label's hits, predicted tasks and true tasks."""
        hit, predicted, true = np.split(sums, 3, axis=1)
        whole = denominator(predicted, true)
        if average == "micro":
            return hit.sum(1) / whole.sum(1)
        each = np.divide(hit, whole, out=np.zeros_like(hit), where=whole > 0)
        weight = true if average == "weighted" else (predicted + true > 0).astype(np.float64)
        return (each * weight).sum(1) / weight.sum(1)

    return TaskSums(len(prediction), 3 * size, lambda: contributions, average_ratio_from_label_sums)
