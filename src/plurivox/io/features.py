"""Features: one vector of numbers per task, and the files (`.npz`, tables) that store them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.array_types import Floats, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names, as_text, duplicates
from plurivox.core.npz_arrays_and_task_rows import (
    read_npz,
    row_names_of_split,
    select_rows_by_task,
    task_rows_from_npz_arrays,
    without_stringdtype,
    write_npz,
)
from plurivox.core.soft_labels import SoftLabels
from plurivox.io.tabular.column_conversion import to_floats_nan_if_missing, to_names_or_error_if_missing
from plurivox.io.tabular.table_files import read_table, require_columns


@dataclass(frozen=True)
class Features:
    """Feature vectors: one row of numbers per task, with optional split and gold label of each task."""

    tasks: Names  # (n,)
    x: Floats  # (n, ...) in the dtype of the file
    split: Names | None = None  # (n,) such as "train", "valid", "test"
    gold: SoftLabels | None = None  # true labels that came with the rows

    def on(self, tasks: Names) -> Floats:
        """Return (n, ...) the feature rows of these tasks, in this order; raise InputError if a task has no features."""
        return select_rows_by_task(tasks, self.tasks, self.x, "features")

    def __repr__(self) -> str:
        return f"<Features: {len(self.tasks):,} tasks x {' x '.join(map(str, self.x.shape[1:]))}>"


def read_features(path: Path, items: pl.DataFrame | None = None) -> Features:
    """Return the features in an `.npz` file or a table.

    An `.npz` contains `x` and `task` (optionally `split`, `y`, the true labels, and `labels`, the list of them), or `x_<split>`
    (and `y_<split>`) for every split. Rows of a split get their task name from `items` if it has the columns `task`, `split`
    and `row`; other rows are named `<split>-<row>`.
    """
    if path.suffix == ".npz":
        names = partial(_task_names_of_split_rows, items=items)
        return _require_valid_features(
            Features(*task_rows_from_npz_arrays(read_npz(path, "features"), path, "features", names)), path
        )
    frame = read_table(path)
    require_columns(frame, ["task"], path)
    numbers = [to_floats_nan_if_missing(frame[name], path) for name in frame.columns if name != "task"]
    if not numbers:
        raise InputError(f"{path} has no column besides 'task'; features need at least one column of numbers")
    return _require_valid_features(
        Features(to_names_or_error_if_missing(frame["task"], path), np.column_stack(numbers)), path
    )


def read_gold_of_features(path: Path, items: pl.DataFrame | None = None) -> SoftLabels | None:
    """Return the true labels in an `.npz` of features, without reading the features; None if it has none.

    Their tasks are those of `read_features`.
    """
    if path.suffix != ".npz":
        return None
    arrays = read_npz(path, "features", only=lambda name: not (name == "x" or name.startswith("x_")))
    rows = {"x" + name[1:]: np.empty((len(y), 0)) for name, y in arrays.items() if name == "y" or name.startswith("y_")}
    if not rows:
        return None
    names = partial(_task_names_of_split_rows, items=items)
    return task_rows_from_npz_arrays({**arrays, **rows}, path, "features", names).gold


def _require_valid_features(features: Features, path: Path) -> Features:
    """Return the features unchanged; raise InputError if lengths differ, a task occurs twice or values are not numbers."""
    x, n = features.x, len(features.tasks)
    if x.dtype.kind not in "fiub":
        raise InputError(f"the features (x) in {path} are of type {x.dtype}; they must be numbers")
    if x.ndim == 0 or len(x) != n:
        raise InputError(
            f"{path} has {n} tasks, but its features (x) have the shape {x.shape}; it needs one row per task"
        )
    if features.split is not None and len(features.split) != n:
        raise InputError(f"{path} has {n} tasks, but {len(features.split)} values in split; it needs one per task")
    if len(twice := duplicates(features.tasks)):
        raise InputError(f"{path} has several rows of features for the tasks {first_few(twice)}; keep one row per task")
    return features


def _task_names_of_split_rows(split: str, n_rows: int, items: pl.DataFrame | None) -> Names:
    """Return the task names of the rows of a split (train, ...): those that `items` lists for it, else `<split>-<row>`."""
    names = row_names_of_split(split, n_rows).tolist()
    if items is not None and {"task", "split", "row"} <= set(items.columns):
        rows = items.with_columns(pl.col("row").cast(pl.Int64, strict=False))  # text in a CSV file
        mine = rows.filter((pl.col("split") == split) & pl.col("row").is_between(0, n_rows - 1))
        for task, row in mine.select("task", "row").iter_rows():
            names[row] = str(task)
    return as_names(names)


def names_of_number_columns(items: pl.DataFrame | None) -> list[str]:
    """Return the names of the columns of numbers in the items, without the column task; in a CSV file numbers are texts."""
    if items is None or "task" not in items.columns:
        return []
    return [column.name for column in items.get_columns() if column.name != "task" and _holds_numbers(column)]


def _holds_numbers(column: pl.Series) -> bool:
    """Return whether all cells of a column that are not empty are numbers, and some are not empty."""
    if column.dtype.is_nested() or column.dtype in (pl.Binary, pl.Object) or column.null_count() == len(column):
        return False
    return column.cast(pl.Float64, strict=False).null_count() == column.null_count()


def number_cells_of_items(items: pl.DataFrame, columns: Sequence[str], name: str) -> tuple[Names, Floats]:
    """Return (tasks, cells (n, n_columns)) of columns of numbers; InputError naming the tasks where a number is missing."""
    tasks = to_names_or_error_if_missing(items["task"], name)
    cells = np.column_stack([to_floats_nan_if_missing(items[column], name) for column in columns])
    if len(empty := np.flatnonzero(~np.isfinite(cells).all(1))):
        raise InputError(
            f"{len(empty)} tasks of {name} are NaN or empty in the columns {first_few(columns)}: {first_few(tasks[empty])}; "
            "fill them, or leave the column out"
        )
    return tasks, cells


def text_cells_of_items(items: pl.DataFrame, columns: Sequence[str], name: str) -> tuple[Names, Names]:
    """Return (tasks, cells (n, n_columns) as texts) of the rows of the items that have a value in all of these columns."""
    kept = items.drop_nulls(["task", *columns])
    cells = as_text(np.concatenate([as_names(kept[column].cast(pl.String).to_list()) for column in columns]))
    return to_names_or_error_if_missing(kept["task"], name), cells.reshape(len(columns), len(kept)).T


def write_features(features: Features, path: Path) -> None:
    """Write features to an `.npz`: `x` and `task`, and `split`, `y` and `labels` if known."""
    arrays: dict[str, Any] = {"x": features.x, "task": without_stringdtype(features.tasks)}
    if features.split is not None:
        arrays["split"] = without_stringdtype(features.split)
    if features.gold is not None:
        arrays["y"] = without_stringdtype(features.gold.on(features.tasks).hard())
        arrays["labels"] = without_stringdtype(features.gold.labels)  # also labels without a task
    write_npz(path, arrays)
