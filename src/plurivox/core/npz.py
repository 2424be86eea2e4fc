"""Plain arrays from an .npz that anybody may have written, and rows of numbers by task name in them."""

import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_file
from plurivox.core.encoding import as_names, positions
from plurivox.core.errors import InputError, first_few
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Names


def arrays_in(path: Path, what: str) -> dict[str, NDArray[Any]]:
    """Every array of an .npz by its name; `what` names what they are for in the error, such as "features"."""
    try:
        with path.open("rb") as file:  # opened here: numpy leaves a damaged one open
            box = np.load(file, allow_pickle=False)
            if isinstance(box, np.ndarray):
                raise InputError(f"{path} is an .npy file by another name; {what} need named arrays (numpy.savez)")
            return {name: np.asarray(box[name]) for name in box.files}
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, KeyError, NotImplementedError, zipfile.BadZipFile, zlib.error) as cause:
        words = " ".join(str(cause).split()) or type(cause).__name__
        raise InputError(f"{path} is no .npz file of plain arrays, or it is damaged or cut short ({words})") from cause


def write_arrays(path: str | Path, arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write an .npz, whole or not at all."""
    with atomic_file(path) as temporary, temporary.open("wb") as file:
        np.savez(file, **arrays)  # type: ignore[arg-type]


def plain_names(names: Names) -> NDArray[Any]:
    """Names in a type that numpy saves without pickling."""
    return np.array(names.tolist(), dtype=np.str_) if names.dtype.kind == "T" else names


class TaskRows(NamedTuple):
    """One row of numbers per task: the layout that features and packed training inputs share."""

    tasks: Names  # (n,)
    x: NDArray[Any]  # (n, ...) in the type they were stored in
    split: Names | None  # (n,) such as "train", "valid", "test"
    gold: SoftLabels | None  # true labels that came with the rows


def rows_on(wanted: Names, tasks: Names, x: NDArray[Any], missing: str) -> NDArray[Any]:
    """(n, ...) the rows of `x` of the wanted tasks, in this order; an error names those that have no `missing`."""
    names = as_names(wanted, "tasks")
    place = positions(tasks, names)
    if len(absent := names[place < 0]):
        raise InputError(f"{len(absent)} of {len(names)} tasks have no {missing}: {first_few(absent)}")
    return x[place]


def rows_by_split(split: str, n: int) -> Names:
    """The names of rows that have none: <split>-0, <split>-1, ..."""
    return as_names([f"{split}-{i}" for i in range(n)])


def read_task_rows(
    arrays: Mapping[str, NDArray[Any]],
    path: object,
    what: str,
    names: Callable[[str, int], Names] = rows_by_split,
    numbered: bool = False,
) -> TaskRows:
    """The rows in `x` and `task` (perhaps `split`, the true labels `y`, and all `labels`), or in `x_<split>` and `y_<split>`.

    `names` gives the tasks of the rows of a split. Where they may be `numbered`, rows of `x` without `task` are called
    0, 1, 2, ... `what` stands for the rows in errors, such as "features".
    """
    if "x" in arrays and ("task" in arrays or "tasks" in arrays or numbered):
        listed = arrays.get("task", arrays.get("tasks"))
        tasks = as_names(np.arange(len(arrays["x"])) if listed is None else listed, f"task of {path}")
        split = as_names(arrays["split"], f"split of {path}") if "split" in arrays else None
        return TaskRows(tasks, arrays["x"], split, _gold(tasks, arrays.get("y"), arrays.get("labels"), path, what))
    splits = [name[2:] for name in arrays if name.startswith("x_")]
    if not splits:
        raise InputError(
            f"{path} holds {first_few(sorted(arrays))}; {what} need x and task, or x_<split> for every split"
        )
    parts = [arrays[f"x_{one}"] for one in splits]
    if len(shapes := {part.shape[1:] for part in parts}) > 1 or any(part.ndim == 0 for part in parts):
        raise InputError(f"the splits of {path} differ in their {what}: rows of the shapes {first_few(sorted(shapes))}")
    tasks = np.concatenate([names(one, len(part)) for one, part in zip(splits, parts, strict=True)])
    split = np.repeat(as_names(splits), [len(part) for part in parts])
    true = [arrays[f"y_{one}"] for one in splits if f"y_{one}" in arrays]
    y = np.concatenate(true) if len(true) == len(splits) else None
    return TaskRows(tasks, np.concatenate(parts), split, _gold(tasks, y, arrays.get("labels"), path, what))


def _gold(tasks: Names, y: Any, labels: Any, path: object, what: str) -> SoftLabels | None:
    """The true labels, one per row."""
    if y is None:
        return None
    if y.shape != (len(tasks),):
        raise InputError(f"{path} has {len(tasks)} rows of {what}, but true labels (y) of the shape {y.shape}")
    try:
        return SoftLabels.gold(tasks, as_names(y, "y"), labels)
    except InputError as cause:
        raise InputError(f"{path}: {cause}") from None
