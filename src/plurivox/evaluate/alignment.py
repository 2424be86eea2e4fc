"""Where a prediction and the truth meet: on the tasks that both have, over one list of labels."""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from plurivox.core.encoding import as_text, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Candidates, Dense, Rows
from plurivox.core.soft_transforms import dense_if_small
from plurivox.core.types import Floats, Ints, Names

BLOCK, CELLS = 4096, 2**20  # rows and numbers taken at a time, at most, so that many labels need little memory


def meet(prediction: SoftLabels, truth: SoftLabels) -> tuple[Rows, Rows]:
    """The rows of both on the tasks they share; labels the prediction does not know come after its own."""
    here, there = places(prediction, truth)
    left, right = _taken(prediction.body, here), _taken(truth.body, there)
    place = positions(prediction.labels, truth.labels).copy()  # (n_labels of the truth,) their codes in the prediction
    strangers = np.flatnonzero(place < 0)
    place[strangers] = prediction.n_labels + np.arange(len(strangers))
    n_labels = prediction.n_labels + len(strangers)
    if len(strangers):
        left = _moved(left, np.arange(prediction.n_labels), n_labels)
    if not np.array_equal(place, np.arange(n_labels)):
        right = _moved(right, place, n_labels)
    return left, right


def places(prediction: SoftLabels, truth: SoftLabels) -> tuple[Ints, Ints]:
    """Where the tasks that both have stand in the prediction and in the truth, in the order of the prediction."""
    there = positions(truth.tasks, prediction.tasks)
    here = np.flatnonzero(there >= 0)
    if not len(here):
        raise InputError(
            "the prediction and the truth share no task; "
            f"the prediction has {first_few(prediction.tasks)}, the truth {first_few(truth.tasks)}"
        )
    return here, there[here]


def met_labels(prediction: SoftLabels, truth: SoftLabels) -> Names:
    """The labels of the rows that `meet` gives: those of the prediction, then those that only the truth knows."""
    strangers = truth.labels[positions(prediction.labels, truth.labels) < 0]
    if not len(strangers):
        return prediction.labels
    sides = prediction.labels, strangers
    return np.concatenate(sides if prediction.labels.dtype == strangers.dtype else [as_text(side) for side in sides])


def blocks(left: Rows, right: Rows) -> Iterator[tuple[Floats, Floats]]:
    """The rows of both, some at a time: each (n, n_labels) and float64."""
    for where, q in parts(left):
        yield q, right.block(where).astype(np.float64, copy=False)


class ResultCache(Dense):
    """Dense rows that keep their most probable labels, since many measures ask for them."""

    @cached_property
    def _best(self) -> tuple[Ints, Floats]:
        return super().top(1)

    def top(self, k: int) -> tuple[Ints, Floats]:
        return self._best if k == 1 else super().top(k)


def parts(rows: Rows) -> Iterator[tuple[slice, Floats]]:
    """The rows of one side, some at a time: (where, numbers (n, n_labels) in float64)."""
    size = max(min(BLOCK, CELLS // max(rows.n_labels, 1)), 1)
    for begin in range(0, len(rows), size):
        where = slice(begin, min(begin + size, len(rows)))
        yield where, rows.block(where).astype(np.float64, copy=False)


def each(of_rows: Callable[[Floats, Floats], Floats], left: Rows, right: Rows) -> Floats:
    """(n_tasks,) what `of_rows` says of the prediction and the truth of every task."""
    return np.concatenate([of_rows(q, p) for q, p in blocks(left, right)])


def _moved(rows: Rows, place: Ints, n_labels: int) -> Rows:
    wide = dense_if_small(rows) if isinstance(rows, Candidates) else rows
    return wide.on_labels(place, n_labels)


def _taken(rows: Rows, at: Ints) -> Rows:
    """The rows at these places; all of them in their order are taken as they are."""
    return rows if len(at) == len(rows) and bool((at == np.arange(len(at))).all()) else rows.take(at)
