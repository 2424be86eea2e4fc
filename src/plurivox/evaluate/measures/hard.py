"""Measures of the label that is believed most: how often it is the right one; precision, recall and F1.

Each takes (prediction, truth) and compares the tasks that both have. The true label is the most probable one of the truth.
Where labels of the prediction tie, the `first` is taken, or the task is `share`d evenly among them, which is the expected value
of random ties.

Precision, recall and F1 of label k: precision = hits / tasks that got k, recall = hits / tasks whose true label is k,
F1 = 2 hits / (both together). `macro` is the mean over the labels that occur on either side, `weighted` weighs them by the
tasks whose true label they are, `micro` adds up over labels first: with one label a task all three are then the accuracy.
What has no tasks counts 0.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np

from plurivox.core.encoding import as_text
from plurivox.core.errors import OptionError, unknown_name
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates, Rows
from plurivox.core.types import Floats, Ints, Names
from plurivox.evaluate.alignment import meet, met_labels, parts
from plurivox.evaluate.resampling import Tally, mean, mean_of_ratios

Ties = Literal["first", "share"]
Average = Literal["macro", "weighted", "micro"]
CLOSE = 1e-9  # probabilities this near the top are tied with it


def accuracy(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """The share of tasks whose most probable label is the true one.

    Where labels tie, the `first` is taken, or the hit is `share`d: 1 / (number of tied labels) where the true one is
    among them, which is what random ties give in the mean.

    >>> prediction = SoftLabels.of([[.5, .5], [.2, .8]], ["a", "b"], ["no", "yes"])
    >>> truth = SoftLabels.gold(["a", "b"], ["yes", "yes"])
    >>> accuracy(prediction, truth), accuracy(prediction, truth, ties="share")
    (0.5, 0.75)
    """
    return mean(hits(*meet(prediction, truth), ties)).value


def balanced_accuracy(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> float:
    """The accuracy on the tasks of each true label, averaged over the labels that occur.

    (1 / K) sum_k (hits on tasks of label k / tasks of label k).
    Brodersen et al. (2010), https://doi.org/10.1109/ICPR.2010.764

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "no"], labels=["no", "yes"])
    >>> balanced_accuracy(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"]))
    0.5
    """
    return balanced_accuracy_tally(*meet(prediction, truth), ties).value


def top_k_accuracy(
    prediction: SoftLabels,
    truth: SoftLabels,
    *,
    k: int = 5,
    average: Literal["micro", "macro"] = "micro",
    ties: Ties = "first",
) -> float:
    """The share of tasks whose true label is among the k most probable: over tasks, or the mean over true labels (macro).

    Where ties reach over place k, the earlier labels are taken first, or the places left are `share`d among them.
    Russakovsky et al. (2015), section 4.1, https://doi.org/10.1007/s11263-015-0816-y

    >>> prediction = SoftLabels.of([[.5, .3, .2], [.5, .3, .2]], ["a", "b"], ["x", "y", "z"])
    >>> top_k_accuracy(prediction, SoftLabels.gold(["a", "b"], ["y", "z"]), k=2)
    0.5
    """
    left, right = meet(prediction, truth)
    found = mean(top_hits(left, right, ties, k)) if average == "micro" else top_k_macro_tally(left, right, ties, k)
    return found.value


def confusion_counts(prediction: SoftLabels, truth: SoftLabels, *, ties: Ties = "first") -> tuple[Floats, Names]:
    """How many tasks of each true label got which label: the table [true, said] and the labels of both its sides.

    The labels are those of the prediction, then those that only the truth knows.

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> table, labels = confusion_counts(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    >>> table.tolist(), labels.tolist()
    ([[1.0, 0.0], [1.0, 1.0]], ['no', 'yes'])
    """
    left, right = meet(prediction, truth)
    row, said, share = said_labels(left, ties)
    size, true = left.n_labels, true_labels(right)
    table = np.bincount(true[row] * size + said, share, minlength=size * size)
    return table.reshape(size, size).astype(np.float64, copy=False), met_labels(prediction, truth)


def precision(prediction: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Of the tasks that got a label, the share whose true label it is.

    P_k = hits_k / said_k, averaged over labels. Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> precision(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    0.75
    """
    return precision_tally(*meet(prediction, truth), ties, average).value


def recall(prediction: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """Of the tasks whose true label it is, the share that got it.

    R_k = hits_k / true_k, averaged over labels; `balanced_accuracy` leaves out labels that are never true, this does not.
    Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> recall(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"]))
    0.75
    """
    return recall_tally(*meet(prediction, truth), ties, average).value


def f1(prediction: SoftLabels, truth: SoftLabels, *, average: Average = "macro", ties: Ties = "first") -> float:
    """The harmonic mean of precision and recall of each label, averaged over labels.

    F_k = 2 hits_k / (said_k + true_k). Sokolova and Lapalme (2009), https://doi.org/10.1016/j.ipm.2009.03.002

    >>> prediction = SoftLabels.gold(["a", "b", "c"], ["no", "no", "yes"])
    >>> round(f1(prediction, SoftLabels.gold(["a", "b", "c"], ["no", "yes", "yes"])), 4)
    0.6667
    """
    return f1_tally(*meet(prediction, truth), ties, average).value


def majority_baseline(truth: SoftLabels) -> tuple[str, float]:
    """The most frequent true label and the share of tasks that have it: the accuracy of always saying it.

    >>> majority_baseline(SoftLabels.gold(["a", "b", "c", "d"], ["no", "no", "yes", "no"]))
    ('no', 0.75)
    """
    return most_frequent(truth.body, truth.labels)


# ---- of single tasks


def true_labels(truth: Rows) -> Ints:
    """(n_tasks,) the code of the true label."""
    if isinstance(truth, Candidates) and len(truth.label) == len(truth) and not truth.rest.any():
        return truth.label.astype(np.int64)  # gold: one label a row, as no row is empty
    return truth.top(1)[0][:, 0]


def hits(prediction: Rows, truth: Rows, ties: Ties) -> Floats:
    """(n_tasks,) 1 where the most probable label is the true one, less where ties share it."""
    true = true_labels(truth)
    best, top = (column[:, 0] for column in prediction.top(1))
    if ties == "first":
        return (best == true).astype(np.float64)
    tied = np.zeros(len(prediction))
    for where, q in parts(prediction):
        tied[where] = (q >= top[where, None] - CLOSE).sum(1)
    return (prediction.at(true) >= top - CLOSE) / tied


def top_hits(prediction: Rows, truth: Rows, ties: Ties, k: int) -> Floats:
    """(n_tasks,) 1 where the true label is among the k most probable, less where it shares the last place."""
    if k < 1:
        raise OptionError(f"k must be 1 or more; got {k}")
    true = true_labels(truth)
    own, hit = prediction.at(true), np.empty(len(prediction))
    for where, q in parts(prediction):
        mine = own[where, None]
        if ties == "first":
            before = (q > mine) | ((q == mine) & (np.arange(q.shape[1]) < true[where, None]))
            hit[where] = before.sum(1) < k
        else:
            above, tied = (q > mine + CLOSE).sum(1), (np.abs(q - mine) <= CLOSE).sum(1)
            hit[where] = np.clip((k - above) / tied, 0, 1)
    return hit


def said_labels(prediction: Rows, ties: Ties) -> tuple[Ints, Ints, Floats]:
    """(task, label, share): the label each task got, or every tied label with its share."""
    best, top = prediction.top(1)
    if ties == "first":
        return np.arange(len(prediction)), best[:, 0], np.ones(len(prediction))
    rows, labels = [], []
    for where, q in parts(prediction):
        row, label = np.nonzero(q >= top[where] - CLOSE)
        rows.append(row + where.start)
        labels.append(label)
    row = np.concatenate(rows)
    return row, np.concatenate(labels), 1 / np.bincount(row)[row]


# ---- of all tasks


def most_frequent(truth: Rows, labels: Names) -> tuple[str, float]:
    """The most frequent true label and its share of the tasks."""
    n = np.bincount(true_labels(truth), minlength=len(labels))
    return str(as_text(labels)[int(n.argmax())]), float(n.max() / n.sum())


def balanced_accuracy_tally(prediction: Rows, truth: Rows, ties: Ties) -> Tally:
    """See `balanced_accuracy`."""
    return _mean_over_labels(hits(prediction, truth, ties), truth)


def top_k_macro_tally(prediction: Rows, truth: Rows, ties: Ties, k: int) -> Tally:
    """See `top_k_accuracy` with `average="macro"`."""
    return _mean_over_labels(top_hits(prediction, truth, ties, k), truth)


def _mean_over_labels(values: Floats, truth: Rows) -> Tally:
    """The mean over the true labels that occur of the mean of `values` (n_tasks,) over their tasks."""
    size, true, tasks = truth.n_labels, true_labels(truth), np.arange(len(truth))
    pieces = [(tasks, true, values), (tasks, size + true, np.ones(len(truth)))]
    return Tally(len(truth), 2 * size, lambda: pieces, mean_of_ratios)


def precision_tally(prediction: Rows, truth: Rows, ties: Ties, average: Average) -> Tally:
    """See `precision`."""
    return _ratio_tally(prediction, truth, ties, average, lambda said, _: said)


def recall_tally(prediction: Rows, truth: Rows, ties: Ties, average: Average) -> Tally:
    """See `recall`."""
    return _ratio_tally(prediction, truth, ties, average, lambda _, true: true)


def f1_tally(prediction: Rows, truth: Rows, ties: Ties, average: Average) -> Tally:
    """See `f1`."""
    return _ratio_tally(prediction, truth, ties, average, lambda said, true: (said + true) / 2)


def _ratio_tally(
    prediction: Rows, truth: Rows, ties: Ties, average: Average, below: Callable[[Floats, Floats], Floats]
) -> Tally:
    """The hits of every label over what `below` makes of the tasks that got it and of those whose true label it is."""
    if average not in ("macro", "weighted", "micro"):
        raise unknown_name("average", average, ("macro", "weighted", "micro"))
    size, true = prediction.n_labels, true_labels(truth)
    row, said, share = said_labels(prediction, ties)
    hit = said == true[row]
    pieces = [
        (row[hit], said[hit], share[hit]),
        (row, size + said, share),
        (np.arange(len(prediction)), 2 * size + true, np.ones(len(prediction))),
    ]

    def finish(sums: Floats, _: Floats) -> Floats:
        hit, said, true = np.split(sums, 3, axis=1)
        whole = below(said, true)
        if average == "micro":
            return hit.sum(1) / whole.sum(1)
        each = np.divide(hit, whole, out=np.zeros_like(hit), where=whole > 0)
        weight = true if average == "weighted" else (said + true > 0).astype(np.float64)
        return (each * weight).sum(1) / weight.sum(1)

    return Tally(len(prediction), 3 * size, lambda: pieces, finish)
