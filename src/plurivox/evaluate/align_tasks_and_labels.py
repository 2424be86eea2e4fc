"""Align a prediction with the truth: select the tasks that both have, and use one list of labels for both."""

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_text, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense, Rows
from plurivox.core.soft_transforms import dense_if_small
from plurivox.evaluate.label_mismatch import raise_if_no_common_label

MAX_ROWS, MAX_CELLS = 4096, 2**20  # at most this many rows and numbers per block, to limit memory with many labels


def align_rows(prediction: SoftLabels, truth: SoftLabels) -> tuple[Rows, Rows]:
    """Return the rows of prediction and truth for their shared tasks, with one common order of label columns.

    Raise InputError if they have no task or no label in common.
    """
    here, there = shared_task_positions(prediction, truth)
    raise_if_no_common_label(prediction, truth, here, there)
    left, right = _take_rows(prediction.body, here), _take_rows(truth.body, there)
    place = positions(prediction.labels, truth.labels).copy()  # (n_labels of the truth,) their codes in the prediction
    truth_only = np.flatnonzero(place < 0)
    place[truth_only] = prediction.n_labels + np.arange(len(truth_only))
    n_labels = prediction.n_labels + len(truth_only)
    if len(truth_only):
        left = _move_label_columns(left, np.arange(prediction.n_labels), n_labels)
    if not np.array_equal(place, np.arange(n_labels)):
        right = _move_label_columns(right, place, n_labels)
    return left, right


def shared_task_positions(prediction: SoftLabels, truth: SoftLabels) -> tuple[Ints, Ints]:
    """Return the positions of the shared tasks in the prediction and in the truth; raise InputError if there are none."""
    there = positions(truth.tasks, prediction.tasks)
    here = np.flatnonzero(there >= 0)
    if not len(here):
        raise InputError(
            "the prediction and the truth have no task in common; "
            f"the prediction has {first_few(prediction.tasks)}, the truth {first_few(truth.tasks)}"
        )
    return here, there[here]


def prediction_labels_then_truth_only(prediction: SoftLabels, truth: SoftLabels) -> Names:
    """Return the labels of the prediction, followed by those that only the truth has."""
    truth_only = truth.labels[positions(prediction.labels, truth.labels) < 0]
    if not len(truth_only):
        return prediction.labels
    sides = prediction.labels, truth_only
    return np.concatenate(sides if prediction.labels.dtype == truth_only.dtype else [as_text(side) for side in sides])


def prediction_and_truth_blocks(prediction: Rows, truth: Rows) -> Iterator[tuple[Floats, Floats]]:
    """Yield (prediction, truth) block by block: float64 arrays (n, n_labels) of the same consecutive tasks."""
    for where, q in slices_and_float64_row_blocks(prediction):
        yield q, truth.dense_block(where).astype(np.float64, copy=False)


class CachedTopRows(Dense):
    """Dense soft label rows that compute the most probable label of each row only once."""

    @cached_property
    def _cached_top_label_and_probability(self) -> tuple[Ints, Floats]:
        """The most probable label of each row and its probability, computed on first use and cached."""
        return super().top_label_codes_and_probs(1)

    def top_label_codes_and_probs(self, k: int) -> tuple[Ints, Floats]:
        """Return the k most probable labels of each row and their probabilities; cached for k = 1."""
        return self._cached_top_label_and_probability if k == 1 else super().top_label_codes_and_probs(k)


def slices_and_float64_row_blocks(rows: Rows) -> Iterator[tuple[slice, Floats]]:
    """Yield (slice of row numbers, float64 array (n, n_labels) of these rows), one block of rows after another."""
    size = max(min(MAX_ROWS, MAX_CELLS // max(rows.n_labels, 1)), 1)
    for begin in range(0, len(rows), size):
        where = slice(begin, min(begin + size, len(rows)))
        yield where, rows.dense_block(where).astype(np.float64, copy=False)


def values_per_task(block_values: Callable[[Floats, Floats], Floats], prediction: Rows, truth: Rows) -> Floats:
    """Return (n_tasks,) one value per task: `block_values(q, p)` of prediction and truth rows, called on blocks of tasks."""
    return np.concatenate([block_values(q, p) for q, p in prediction_and_truth_blocks(prediction, truth)])


def _move_label_columns(rows: Rows, new_column: Ints, n_labels: int) -> Rows:
    """Return soft label rows with `n_labels` columns, in which the column of label k has moved to `new_column[k]`."""
    wide = dense_if_small(rows) if isinstance(rows, Candidates) else rows
    return wide.move_labels(new_column, n_labels)


def _take_rows(rows: Rows, indices: Ints) -> Rows:
    """Return the soft label rows with these row numbers; `rows` itself if these are all rows in order."""
    return (
        rows if len(indices) == len(rows) and bool((indices == np.arange(len(indices))).all()) else rows.take(indices)
    )
