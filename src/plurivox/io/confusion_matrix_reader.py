"""Read confusion matrices from a table, an `.npy` array, or a saved Confusion or Fit (`.npz`)."""

from pathlib import Path

import numpy as np

from plurivox.core.array_types import Floats, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import (
    distinct_names,
    numbered_names_from_zero,
    positions,
    sort_distinct_names_by_value,
)
from plurivox.core.results import Confusion, Fit
from plurivox.io.tabular.column_conversion import to_floats_nan_if_missing, to_names_or_error_if_missing
from plurivox.io.tabular.table_file_names import file_suffix
from plurivox.io.tabular.table_files import read_table, require_columns

ROUNDING_TOLERANCE = 5e-3  # rows whose sum is this close to 1 are rounded numbers and are normalised


def read_confusion(path: str | Path) -> Confusion:
    """Return the confusion matrix of each worker, read from a table, `.npy` or `.npz` file.

    A table has the columns `worker, true, said, p`, one row per matrix entry; entries that are not listed are 0. An `.npy`
    contains the array [worker, true, said]; its workers and labels are numbered. An `.npz` contains a saved Confusion, or a
    Fit that has one.
    """
    suffix = file_suffix(path)
    if suffix == ".npz":
        return _confusion_from_saved_confusion_or_fit(path)
    if suffix == ".npy":
        array = _read_confusion_matrices_from_npy(Path(path))
        return Confusion(
            _check_rows_sum_to_one_and_normalise(array, path),
            numbered_names_from_zero("worker", len(array)),
            numbered_names_from_zero("label", array.shape[1]),
        )
    frame = read_table(path)
    require_columns(frame, ["worker", "true", "said", "p"], path)
    worker, true, voted = (to_names_or_error_if_missing(frame[name], path) for name in ("worker", "true", "said"))
    workers, labels = distinct_names(worker), _union_of_true_and_voted_labels(true, voted, path)
    n, k = len(workers), len(labels)
    cell = (positions(workers, worker) * k + positions(labels, true)) * k + positions(labels, voted)
    if len(twice := np.flatnonzero(np.bincount(cell, minlength=1) > 1)):
        raise InputError(
            f"{path} lists the same (worker, true, said) in several rows, for worker {first_few(workers[twice[:1] // k**2])}; "
            "keep one row of each"
        )
    cells = np.zeros(n * k * k)
    cells[cell] = to_floats_nan_if_missing(frame["p"], path)
    return Confusion(
        _check_rows_sum_to_one_and_normalise(cells.reshape(n, k, k), path, workers, labels), workers, labels
    )


def _union_of_true_and_voted_labels(true_labels: Names, voted_labels: Names, path: str | Path) -> Names:
    """Return every label that occurs as true label or as vote in a confusion table; raise InputError if their types differ."""
    if true_labels.dtype.kind != voted_labels.dtype.kind:
        raise InputError(
            f"the columns 'true' and 'said' of {path} contain labels of different types; use one type in both"
        )
    return sort_distinct_names_by_value(np.concatenate([true_labels, voted_labels]))


def _confusion_from_saved_confusion_or_fit(path: str | Path) -> Confusion:
    """Return the Confusion in an `.npz`; raise InputError if it contains neither a Confusion nor a Fit that has one."""
    saved = DataType.load(path)
    if isinstance(saved, Confusion):
        return saved
    if isinstance(saved, Fit) and saved.confusion is not None:
        return saved.confusion
    what = "a Fit without confusion matrices" if isinstance(saved, Fit) else type(saved).__name__
    raise InputError(
        f"{path} contains {what}; give a saved Confusion, or a Fit of a method that estimates one (dawid-skene)"
    )


def _read_confusion_matrices_from_npy(path: Path) -> Floats:
    """Return (n_workers, n_labels, n_labels) confusion matrices from an `.npy`; raise InputError for another shape or type."""
    try:
        with path.open("rb") as file:
            array = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError) as cause:
        raise InputError(f"{path} is not an .npy file of numbers, or it is damaged ({cause})") from cause
    if not isinstance(array, np.ndarray) or array.ndim != 3 or array.shape[1] != array.shape[2]:
        shape = array.shape if isinstance(array, np.ndarray) else "several arrays"
        raise InputError(f"{path} contains {shape}; confusion matrices need the shape (n_workers, n_labels, n_labels)")
    if array.dtype.kind not in "fiu":
        raise InputError(f"{path} contains values of type {array.dtype}; confusion matrices need numbers")
    return array.astype(np.float64)


def _check_rows_sum_to_one_and_normalise(
    matrices: Floats, path: str | Path, workers: Names | None = None, labels: Names | None = None
) -> Floats:
    """Return confusion matrices with rows divided by their sum; raise InputError if a sum is not 1 up to rounding."""
    total = matrices.sum(2)
    bad = ~(np.abs(total - 1) <= ROUNDING_TOLERANCE) | ~(matrices.min(2) >= 0)  # also if an entry is not finite
    if bad.any():
        worker, true = np.argwhere(bad)[0]
        worker_name = worker if workers is None else workers[worker]
        label = true if labels is None else labels[true]
        raise InputError(
            f"the rows of the confusion matrices in {path} must be non-negative and sum to 1; {int(bad.sum())} are not, for "
            f"example worker {first_few([worker_name])}, true label {first_few([label])}: the sum is {total[worker, true]:.6g}"
        )
    return matrices / total[:, :, None]
