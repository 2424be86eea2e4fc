"""Align a prediction with the truth: select the tasks that both have, and use one list of labels for both."""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from plurivox.core.encoding import as_text, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense, Rows
from plurivox.core.soft_transforms import dense_if_small
from plurivox.core.types import Floats, Ints, Names

MAX_ROWS, MAX_CELLS = 4096, 2**20  # at most this many rows and numbers per block, to limit memory with many labels


def align_rows(prediction: SoftLabels, truth: SoftLabels) -> tuple[Rows, Rows]:
    """Return the rows of both on the tasks they share, with the labels of `aligned_labels` as columns."""
    here, there = shared_positions(prediction, truth)
    left, right = _take_rows(prediction.body, here), _take_rows(truth.body, there)
    place = positions(prediction.labels, truth.labels).copy()  # (n_labels of the truth,) their codes in the prediction
    truth_only = np.flatnonzero(place < 0)
    place[truth_only] = prediction.n_labels + np.arange(len(truth_only))
    n_labels = prediction.n_labels + len(truth_only)
    if len(truth_only):
        left = _relabel(left, np.arange(prediction.n_labels), n_labels)
    if not np.array_equal(place, np.arange(n_labels)):
        right = _relabel(right, place, n_labels)
    return left, right


def shared_positions(prediction: SoftLabels, truth: SoftLabels) -> tuple[Ints, Ints]:
    """Return the positions of the shared tasks in the prediction and in the truth; raise InputError if there are none."""
    there = positions(truth.tasks, prediction.tasks)
    here = np.flatnonzero(there >= 0)
    if not len(here):
        raise InputError(
            "the prediction and the truth have no task in common; "
            f"the prediction has {first_few(prediction.tasks)}, the truth {first_few(truth.tasks)}"
        )
    return here, there[here]


def aligned_labels(prediction: SoftLabels, truth: SoftLabels) -> Names:
    """Return the labels of the columns of `align_rows`: those of the prediction, then those that only the truth has."""
    truth_only = truth.labels[positions(prediction.labels, truth.labels) < 0]
    if not len(truth_only):
        return prediction.labels
    sides = prediction.labels, truth_only
    return np.concatenate(sides if prediction.labels.dtype == truth_only.dtype else [as_text(side) for side in sides])


def paired_blocks(left: Rows, right: Rows) -> Iterator[tuple[Floats, Floats]]:
    """Yield (prediction, truth) in blocks of rows: float64 arrays (n, n_labels)."""
    for where, q in row_blocks(left):
        yield q, right.dense_block(where).astype(np.float64, copy=False)


class CachedTopRows(Dense):
    """Dense rows that cache their most probable label, since many measures use it."""

    @cached_property
    def _best(self) -> tuple[Ints, Floats]:
        """The label and probability of the most probable label of each row."""
        return super().top(1)

    def top(self, k: int) -> tuple[Ints, Floats]:
        """Return the k most probable labels of each row and their probabilities; cached for k = 1."""
        return self._best if k == 1 else super().top(k)


def row_blocks(rows: Rows) -> Iterator[tuple[slice, Floats]]:
    """Yield (slice, float64 array (n, n_labels)) in blocks of rows."""
    size = max(min(MAX_ROWS, MAX_CELLS // max(rows.n_labels, 1)), 1)
    for begin in range(0, len(rows), size):
        where = slice(begin, min(begin + size, len(rows)))
        yield where, rows.dense_block(where).astype(np.float64, copy=False)


def per_task(of_rows: Callable[[Floats, Floats], Floats], left: Rows, right: Rows) -> Floats:
    """Return (n_tasks,) the values of `of_rows(prediction rows, truth rows)`, computed block by block."""
    return np.concatenate([of_rows(q, p) for q, p in paired_blocks(left, right)])


def _relabel(rows: Rows, place: Ints, n_labels: int) -> Rows:
    """Return the rows with label k moved to column `place[k]` of `n_labels`."""
    wide = dense_if_small(rows) if isinstance(rows, Candidates) else rows
    return wide.move_labels(place, n_labels)


def _take_rows(rows: Rows, at: Ints) -> Rows:
    """Return the rows at these positions; the same object if that is all rows in order."""
    return rows if len(at) == len(rows) and bool((at == np.arange(len(at))).all()) else rows.take(at)
