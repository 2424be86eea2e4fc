"""Confusion matrices in files: a long table, a bare array, or a noun's own `.npz`."""

from pathlib import Path

import numpy as np

from plurivox.core.base import DataType
from plurivox.core.encoding import numbered_names, positions, sort_by_value
from plurivox.core.errors import InputError, first_few
from plurivox.core.results import Confusion, Fit
from plurivox.core.types import Floats, Names
from plurivox.io.tabular.column_values import names_of, numbers_of
from plurivox.io.tabular.file_names import suffix_of
from plurivox.io.tabular.table_files import read_table, require_columns

ROUNDED = 5e-3  # sums this near to one come from rounded numbers, and are mended


def read_confusion(path: str | Path) -> Confusion:
    """Every worker's matrix.

    A table has the columns `worker, true, said, p`, a row a cell; cells that are not listed hold 0. An `.npy` holds the bare
    array [worker, true, said], whose workers and labels are then numbered. An `.npz` holds a saved Confusion, or a Fit that has
    one.
    """
    ending = suffix_of(path)
    if ending == ".npz":
        return _of_noun(path)
    if ending == ".npy":
        array = _array_in(Path(path))
        return Confusion(
            _mended(array, path), numbered_names("worker", len(array)), numbered_names("label", array.shape[1])
        )
    frame = read_table(path)
    require_columns(frame, ["worker", "true", "said", "p"], path)
    worker, true, said = (names_of(frame[name], path) for name in ("worker", "true", "said"))
    workers, labels = np.unique(worker), _labels(true, said, path)
    n, k = len(workers), len(labels)
    cell = (positions(workers, worker) * k + positions(labels, true)) * k + positions(labels, said)
    if len(twice := np.flatnonzero(np.bincount(cell, minlength=1) > 1)):
        raise InputError(
            f"{path} gives some cells twice, such as one of worker {first_few(workers[twice[:1] // k**2])}"
        )
    cells = np.zeros(n * k * k)
    cells[cell] = numbers_of(frame["p"], path)
    return Confusion(_mended(cells.reshape(n, k, k), path, workers, labels), workers, labels)


def _labels(true: Names, said: Names, path: str | Path) -> Names:
    if true.dtype.kind != said.dtype.kind:
        raise InputError(f"the columns 'true' and 'said' of {path} hold different kinds of labels; make them alike")
    return sort_by_value(np.concatenate([true, said]))


def _of_noun(path: str | Path) -> Confusion:
    noun = DataType.load(path)
    if isinstance(noun, Confusion):
        return noun
    if isinstance(noun, Fit) and noun.confusion is not None:
        return noun.confusion
    what = "a Fit without matrices" if isinstance(noun, Fit) else type(noun).__name__
    raise InputError(f"{path} holds {what}; matrices need a Confusion, or a Fit that has one")


def _array_in(path: Path) -> Floats:
    try:
        with path.open("rb") as file:
            array = np.load(file, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError) as cause:
        raise InputError(f"{path} is no .npy file of plain numbers, or it is damaged ({cause})") from cause
    if not isinstance(array, np.ndarray) or array.ndim != 3 or array.shape[1] != array.shape[2]:
        shape = array.shape if isinstance(array, np.ndarray) else "several arrays"
        raise InputError(f"{path} holds {shape}; matrices need (n_workers, n_labels, n_labels)")
    if array.dtype.kind not in "fiu":
        raise InputError(f"{path} holds numbers of the type {array.dtype}; matrices need plain numbers")
    return array.astype(np.float64)


def _mended(cells: Floats, path: str | Path, workers: Names | None = None, labels: Names | None = None) -> Floats:
    """The matrices with rows that sum to one exactly; rows that are further off than rounding takes them are refused."""
    total = cells.sum(2)
    bad = ~(np.abs(total - 1) <= ROUNDED) | ~(cells.min(2) >= 0)  # also where something is not finite
    if bad.any():
        worker, true = np.argwhere(bad)[0]
        who = worker if workers is None else workers[worker]
        of = true if labels is None else labels[true]
        raise InputError(
            f"the rows of the matrices in {path} must be 0 or more and sum to one; {int(bad.sum())} do not, such as that of "
            f"worker {first_few([who])} for {first_few([of])} with the sum {total[worker, true]:.6g}"
        )
    return cells / total[:, :, None]
