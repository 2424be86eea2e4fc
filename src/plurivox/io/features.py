"""Features: numbers for every task, by task name or by the rows of splits."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.encoding import as_names, duplicates
from plurivox.core.errors import InputError, first_few
from plurivox.core.npz import (
    read_arrays,
    read_task_rows,
    select_rows,
    split_row_names,
    without_stringdtype,
    write_arrays,
)
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats, Names
from plurivox.io.tabular.column_values import names_of, numbers_of
from plurivox.io.tabular.table_files import read_table, require_columns


@dataclass(frozen=True)
class Features:
    """One row of numbers a task."""

    tasks: Names  # (n,)
    x: Floats  # (n, ...) in the type they were stored in
    split: Names | None = None  # (n,) such as "train", "valid", "test"
    gold: SoftLabels | None = None  # true labels that came with the rows

    def on(self, tasks: Names) -> Floats:
        """(n, ...) the rows of these tasks, in this order."""
        return select_rows(tasks, self.tasks, self.x, "features")

    def __repr__(self) -> str:
        return f"<Features: {len(self.tasks):,} tasks x {' x '.join(map(str, self.x.shape[1:]))}>"


def read_features(path: Path, items: pl.DataFrame | None = None) -> Features:
    """Features of an `.npz` or of a table.

    An `.npz` holds `x` and `task` (and perhaps `split`, `y`, the true labels, and `labels`, the list of them), or `x_<split>`
    (and `y_<split>`) for every split. Rows of a split are called by their task where `items` has the columns `task`, `split`
    and `row`; the others `<split>-<row>`.
    """
    if path.suffix == ".npz":
        names = partial(_row_names, items=items)
        return _checked(Features(*read_task_rows(read_arrays(path, "features"), path, "features", names)), path)
    frame = read_table(path)
    require_columns(frame, ["task"], path)
    numbers = [numbers_of(frame[name], path) for name in frame.columns if name != "task"]
    if not numbers:
        raise InputError(f"{path} has tasks alone; features need a column of numbers at least")
    return _checked(Features(names_of(frame["task"], path), np.column_stack(numbers)), path)


def _checked(features: Features, path: Path) -> Features:
    """The same, once its arrays fit together."""
    x, n = features.x, len(features.tasks)
    if x.dtype.kind not in "fiub":
        raise InputError(f"{path} holds features of the type {x.dtype}; they must be numbers")
    if x.ndim == 0 or len(x) != n:
        raise InputError(f"{path} has {n} tasks, but features (x) of the shape {x.shape}; it needs a row a task")
    if features.split is not None and len(features.split) != n:
        raise InputError(f"{path} has {n} tasks, but {len(features.split)} splits")
    if len(twice := duplicates(features.tasks)):
        raise InputError(f"{path} has two rows of features for the tasks {first_few(twice)}")
    return features


def _row_names(split: str, n: int, items: pl.DataFrame | None) -> Names:
    """The tasks of the rows of a split, where the items say them."""
    names = split_row_names(split, n).tolist()
    if items is not None and {"task", "split", "row"} <= set(items.columns):
        mine = items.filter((pl.col("split") == split) & pl.col("row").is_between(0, n - 1))
        for task, row in mine.select("task", "row").iter_rows():
            names[row] = str(task)
    return as_names(names)


def write_features(features: Features, path: Path) -> None:
    """An `.npz` of `x` and `task`, with `split`, and `y` and `labels`, where they are known."""
    arrays: dict[str, Any] = {"x": features.x, "task": without_stringdtype(features.tasks)}
    if features.split is not None:
        arrays["split"] = without_stringdtype(features.split)
    if features.gold is not None:
        arrays["y"] = without_stringdtype(features.gold.on(features.tasks).hard())
        arrays["labels"] = without_stringdtype(features.gold.labels)  # also those that no task has
    write_arrays(path, arrays)
