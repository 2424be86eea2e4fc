"""Read the `.npy` files of a peerannot folder: `ground_truth.npy`, `matrices.npy` and the aggregated labels in `labels/`.

Row i of `ground_truth.npy`, the label number of each task, and of a file of labels is the task with key i. Labels are hard
(one label number per task) or soft (one probability per task and label). `matrices.npy` (n_workers, K, K) has the confusion
matrices from which `peerannot simulate` drew the answers, rows by true label.
"""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, sort_distinct_names_by_value
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.formats._data_read_from_other_program import counted_notes
from plurivox.io.formats._peerannot_task_worker_label_names import NameMap

GROUND_TRUTH, MATRICES = "ground_truth.npy", "matrices.npy"
ROUNDING_TOLERANCE = 5e-3  # rows whose sum is this close to 1 are rounded numbers, and are divided by their sum


def read_ground_truth_or_none(folder: Path, names: NameMap) -> SoftLabels | None:
    """Return the true labels in `ground_truth.npy` of a peerannot folder; None if the folder has no such file."""
    file = folder / GROUND_TRUTH
    if not file.is_file():
        return None
    numbers = _load(file)
    if numbers.ndim != 1 or not _are_whole(numbers):
        raise InputError(
            f"{file} must contain one label number per task; it has shape {numbers.shape}, type {numbers.dtype}"
        )
    tasks = _task_names(names, len(numbers), file)
    labels = [names.labels.get(int(number), int(number)) for number in numbers]
    known = names.order or tuple(names.labels.values())
    whole = known if set(labels) <= set(known) else sort_distinct_names_by_value(as_names([*known, *labels])).tolist()
    return SoftLabels.gold(tasks, labels, labels=list(dict.fromkeys(whole)))


def read_matrices_or_none(folder: Path, names: NameMap) -> pl.DataFrame | None:
    """Return the matrices in `matrices.npy` as a table `worker, true, said, p`; None if the folder has no such file."""
    file = folder / MATRICES
    if not file.is_file():
        return None
    array = _load(file)
    if array.ndim != 3 or array.shape[1] != array.shape[2]:
        raise InputError(
            f"{file} has shape {array.shape}; confusion matrices need the shape (n_workers, n_labels, n_labels)"
        )
    n, k = array.shape[:2]
    workers = [names.workers.get(str(i)) or i for i in range(n)]
    labels = [names.labels.get(i, i) for i in range(k)]
    worker, true, said = (place.ravel() for place in np.indices(array.shape))
    return pl.DataFrame(
        {
            "worker": pl.Series([workers[i] for i in worker], strict=False),
            "true": pl.Series([labels[i] for i in true], strict=False),
            "said": pl.Series([labels[i] for i in said], strict=False),
            "p": array.ravel(),
        }
    )


def soft_labels_of_array(file: Path, names: NameMap, tasks: list[str]) -> SoftLabels:
    """Return the labels in a file of `labels/`, hard or soft, with the names of a folder whose task keys are `tasks`."""
    array = _load(file)
    n = max((int(key) for key in tasks if key.isdecimal()), default=-1) + 1
    if array.ndim not in (1, 2) or len(array) != n:
        raise InputError(f"{file} has shape {array.shape}; labels of the {n} tasks in answers.json need {n} rows")
    if array.ndim == 1:
        if not _are_whole(array):
            raise InputError(
                f"{file} must contain label numbers, or one row of probabilities per task; its type is {array.dtype}"
            )
        k = max(len(names.order or names.labels), int(array.max(initial=-1)) + 1)
        array = (array[:, None] == np.arange(k)).astype(float)
    array = array.astype(np.float64)
    sums = array.sum(1)
    known = np.isfinite(sums) & (sums > 0) & np.isin([str(i) for i in range(n)], tasks)
    if off := np.flatnonzero(known & (np.abs(sums - 1) > ROUNDING_TOLERANCE)).tolist():
        raise InputError(
            f"the rows of {file} must sum to 1; those of the tasks {first_few(off)} do not: {sums[off[0]]:.6g}"
        )
    labels = [names.labels.get(i, i) for i in range(array.shape[1])]
    named = _task_names(names, n, file)
    return SoftLabels.of(
        array[known] / sums[known, None],
        as_names([named[i] for i in np.flatnonzero(known)]),
        as_names(labels),
        notes=counted_notes((int((~known).sum()), "task has no label in the file", "tasks have no label in the file")),
    )


def _load(file: Path) -> NDArray[Any]:
    """Return the array in an `.npy` file; raise InputError if it is damaged or does not contain numbers."""
    try:
        with file.open("rb") as opened:
            array = np.load(opened, allow_pickle=False)
    except (ValueError, OSError, EOFError) as cause:
        raise InputError(f"{file} is not an .npy file of numbers, or it is damaged ({cause})") from cause
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iufb":
        raise InputError(f"{file} does not contain an array of numbers")
    return array


def _are_whole(numbers: NDArray[Any]) -> bool:
    return numbers.dtype.kind in "iu" or bool((np.floor(numbers) == numbers).all() and numbers.dtype.kind == "f")


def _task_names(names: NameMap, n: int, file: Path) -> list[Any]:
    """Return the names of the tasks with the keys 0 to n - 1; raise InputError if the keys are not numbers."""
    if strange := [key for key in names.tasks if not key.isdecimal()]:
        raise InputError(
            f"{file} has one row per task number, but answers.json has other task keys: {first_few(strange)}"
        )
    return [names.tasks.get(str(i), i) for i in range(n)]
