"""Margins: by how much a label stood out while a classifier learnt, and how far each worker is trusted there."""

from typing import Literal

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.errors import InputError, some
from plurivox.core.results import Confusion, Dynamics
from plurivox.core.types import Floats, Ints, Names

Margin = Literal["yang", "pleiss"]
MARGIN_HELP = "less the second largest of all labels (yang), or the largest of the other labels (pleiss)"
TOP_K_HELP = (
    "take the margin to the label one place after the k best, so that a label among them does not count as wrong"
)
SPREAD_HELP = "divide by the sum of the weights, as in peerannot's code, or by the number of votes, as in its paper"
AT_ONCE = 2**16  # votes weighed at a time


def mean_margins(dynamics: Dynamics, row: Ints, label: Ints, margin: Margin, top_k: int, *, logits: bool) -> Floats:
    """(n,) the margin of `label[i]` on task `row[i]`, a mean over epochs; nan where what was recorded is not finite.

    With a_1 >= a_2 >= ... the outputs for a task, it is a_label - a_[k+1] (yang), or a_label less the k-th largest of the
    others (pleiss): a_[k+1] where the label is among the k best, else a_[k].
    """
    n_labels = len(dynamics.labels)
    if top_k >= n_labels:
        raise InputError(f"top-k of {top_k} needs more labels than that; the dynamics have {n_labels}")
    if not dynamics.n_epochs:
        raise InputError("the dynamics hold no epoch; record them while a classifier is trained")
    finite, total = dynamics.finite(), np.zeros(len(row))
    for epoch in dynamics.logits:  # (n_tasks, n_labels)
        out = np.where(finite[:, None], epoch, 0.0) if logits else softmax(epoch, finite)
        here = out[row, label]
        order = np.partition(out, (n_labels - top_k - 1, n_labels - top_k), axis=1)
        after = order[row, n_labels - top_k - 1]
        if margin == "pleiss":
            best = order[row, n_labels - top_k]
            after = np.where(here >= best, after, best)
        total += here - after
    return np.where(finite[row], total / dynamics.n_epochs, np.nan)


def softmax(logits: Floats, finite: np.ndarray) -> Floats:
    """(n_tasks, n_labels) probabilities; rows that are not finite come out even."""
    safe = np.where(finite[:, None], logits, 0.0).astype(np.float64)
    grown = np.exp(safe - safe.max(1, keepdims=True))
    return np.asarray(grown / grown.sum(1, keepdims=True))


def trust(dynamics: Dynamics, row: Ints, confusion: Confusion, worker: Ints) -> Floats:
    """(n,) <softmax at the last epoch, diagonal of the matrix of `worker[i]`>: how likely the worker is right there."""
    last = softmax(dynamics.logits[-1], dynamics.finite())
    place = positions(confusion.labels, dynamics.labels)
    right = np.where(place >= 0, np.einsum("mkk->mk", confusion.matrices)[:, place], 0.0)  # (n_matrices, n_labels)
    which = worker if confusion.which is None else confusion.which[worker]
    out = np.empty(len(row))
    for begin in range(0, len(row), AT_ONCE):
        at = slice(begin, begin + AT_ONCE)
        out[at] = np.einsum("ik,ik->i", last[row[at]], right[which[at]])
    return out


def codes_of_labels(dynamics: Dynamics, labels: Names, used: Ints) -> Ints:
    """(n_labels,) where each label stands in the dynamics; every one of the codes `used` must be there."""
    place = positions(dynamics.labels, labels)
    if len(lost := labels[used][place[used] < 0]):
        raise InputError(f"the classifier was not trained on labels {some(lost)}; it knows {some(dynamics.labels, 6)}")
    return place


def codes_of_workers(confusion: Confusion, workers: Names, used: Ints) -> Ints:
    """(n_workers,) where each worker stands in the fit; every one of the codes `used` must be there."""
    place = positions(confusion.workers, workers)
    if len(lost := workers[used][place[used] < 0]):
        raise InputError(f"the fit knows nothing of {len(lost)} workers such as {some(lost)}; fit the same votes")
    return place
