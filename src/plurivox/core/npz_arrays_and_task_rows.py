"""Read and write plain .npz files of arrays, and select rows of numbers by task name."""

import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.soft_labels import SoftLabels


def read_npz(path: Path, what: str, only: Callable[[str], bool] | None = None) -> dict[str, NDArray[Any]]:
    """Read the arrays of an .npz file by name, all or only those whose name `only` accepts.

    Raise InputError if the file is missing or damaged; `what` is for the message.
    """
    try:
        with path.open("rb") as file:  # opened here: numpy leaves a damaged one open
            archive = np.load(file, allow_pickle=False)
            if isinstance(archive, np.ndarray):
                raise InputError(f"{path} is an .npy file; {what} need an .npz file of named arrays (numpy.savez)")
            return {name: np.asarray(archive[name]) for name in archive.files if only is None or only(name)}
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as cause:
        words = " ".join(str(cause).split()) or type(cause).__name__
        raise InputError(
            f"{path} is not an .npz file of plain arrays, or it is damaged or truncated ({words})"
        ) from cause


def write_npz(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write named arrays to an .npz file, atomically."""
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def without_stringdtype(names: Names) -> NDArray[Any]:
    """Return names in a dtype that numpy can save without pickling: StringDType becomes fixed-width Unicode."""
    return np.array(names.tolist(), dtype=np.str_) if names.dtype.kind == "T" else names


class TaskRows(NamedTuple):
    """One row of numbers per task, as read from a file of features or of packed training inputs."""

    tasks: Names  # (n,)
    x: NDArray[Any]  # (n, ...) in the dtype of the file
    split: Names | None  # (n,) such as "train", "valid", "test"
    gold: SoftLabels | None  # true labels in the same file


def select_rows_by_task(wanted_tasks: Names, task_of_row: Names, x: NDArray[Any], row_description: str) -> NDArray[Any]:
    """(n_wanted, ...) the rows of `x` that belong to the wanted tasks, in their order. Raise InputError if a task has no row.

    `task_of_row` (n,) are the tasks of the rows; `row_description` is the word for a row in the message, such as "features".
    """
    names = as_names(wanted_tasks, "tasks")
    place = positions(task_of_row, names)
    if len(absent := names[place < 0]):
        raise InputError(f"{len(absent)} of {len(names)} tasks have no {row_description}: {first_few(absent)}")
    return x[place]


def row_names_of_split(split: str, n_rows: int) -> Names:
    """Return task names for the rows of one split of a data set: <split>-0, <split>-1, ..."""
    return as_names([f"{split}-{i}" for i in range(n_rows)])


def task_rows_from_npz_arrays(
    arrays: Mapping[str, NDArray[Any]],
    path: object,
    what: str,
    names_of_split: Callable[[str, int], Names] = row_names_of_split,
    number_rows: bool = False,
) -> TaskRows:
    """Convert the arrays of an .npz file to TaskRows: `x` and `task`, or `x_<split>` and `y_<split>` per split.

    With `x`, there may also be `split`, the true labels `y` and the list of all `labels`. `names_of_split(split, n)`
    returns the
    task names of a split. If `number_rows`, rows of `x` without `task` are named 0, 1, 2, ... `what` is for messages.
    """
    if "x" in arrays and ("task" in arrays or "tasks" in arrays or number_rows):
        listed = arrays.get("task", arrays.get("tasks"))
        tasks = as_names(np.arange(len(arrays["x"])) if listed is None else listed, f"task of {path}")
        split = as_names(arrays["split"], f"split of {path}") if "split" in arrays else None
        return TaskRows(
            tasks, arrays["x"], split, _one_hot_gold_or_none(tasks, arrays.get("y"), arrays.get("labels"), path, what)
        )
    splits = [name[2:] for name in arrays if name.startswith("x_")]
    if not splits:
        raise InputError(
            f"{path} contains {first_few(sorted(arrays))}; {what} need x and task, or x_<split> for every split"
        )
    parts = [arrays[f"x_{one}"] for one in splits]
    if len(shapes := {part.shape[1:] for part in parts}) > 1 or any(part.ndim == 0 for part in parts):
        raise InputError(f"the splits of {path} differ in the shape of their {what}: {first_few(sorted(shapes))}")
    tasks = np.concatenate([names_of_split(one, len(part)) for one, part in zip(splits, parts, strict=True)])
    split = np.repeat(as_names(splits), [len(part) for part in parts])
    true = [arrays[f"y_{one}"] for one in splits if f"y_{one}" in arrays]
    y = np.concatenate(true) if len(true) == len(splits) else None
    return TaskRows(
        tasks, np.concatenate(parts), split, _one_hot_gold_or_none(tasks, y, arrays.get("labels"), path, what)
    )


def _one_hot_gold_or_none(
    tasks: Names, true_labels: Any, label_names: Any, path: object, name_in_errors: str
) -> SoftLabels | None:
    """Return the true labels `true_labels`, one per task, as one-hot SoftLabels; None if `true_labels` is None."""
    if true_labels is None:
        return None
    if true_labels.shape != (len(tasks),):
        raise InputError(
            f"{path} has {len(tasks)} rows of {name_in_errors}, but true labels (y) of shape {true_labels.shape}"
        )
    try:
        return SoftLabels.gold(tasks, as_names(true_labels, "y"), label_names)
    except InputError as cause:
        raise InputError(f"{path}: {cause}") from None
