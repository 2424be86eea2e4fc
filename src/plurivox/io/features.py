"""Features: numbers for every task, by task name or by the rows of splits."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.errors import InputError, some
from plurivox.core.files import whole_file
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Floats, Names, as_names, positions
from plurivox.io.tables import read_table


@dataclass(frozen=True)
class Features:
    """One row of numbers a task."""

    tasks: Names  # (n,)
    x: Floats  # (n, ...) in the type they were stored in
    split: Names | None = None  # (n,) such as "train", "valid", "test"
    gold: SoftLabels | None = None  # true labels that came with the rows

    def on(self, tasks: Names) -> Floats:
        """(n, ...) the rows of these tasks, in this order."""
        wanted = as_names(tasks, "tasks")
        place = positions(self.tasks, wanted)
        if len(absent := wanted[place < 0]):
            raise InputError(f"{len(absent)} of {len(wanted)} tasks have no features: {some(absent)}")
        return self.x[place]

    def __repr__(self) -> str:
        return f"<Features: {len(self.tasks):,} tasks x {' x '.join(map(str, self.x.shape[1:]))}>"


def read_features(path: Path, items: pl.DataFrame | None = None) -> Features:
    """Features of an `.npz` or of a table.

    An `.npz` holds `x` and `task` (and perhaps `split` and `y`, the true labels), or `x_<split>` (and `y_<split>`) for every
    split. Rows of a split are called by their task where `items` has the columns `task`, `split` and `row`; the others
    `<split>-<row>`.
    """
    if path.suffix == ".npz":
        try:
            with np.load(path, allow_pickle=False) as box:
                return _of_arrays({name: box[name] for name in box.files}, items, path.name)
        except (ValueError, OSError, EOFError) as cause:
            raise InputError(f"{path} cannot be read as .npz ({cause})") from cause
    frame = read_table(path)
    if "task" not in frame.columns:
        raise InputError(f"{path.name} lacks the column 'task'; it has {frame.columns[:6]}")
    numbers = frame.drop("task").cast(pl.Float64)
    return Features(as_names(frame["task"].to_list(), "tasks"), numbers.to_numpy())


def _of_arrays(arrays: Mapping[str, Any], items: pl.DataFrame | None, where: str) -> Features:
    if "x" in arrays and "task" in arrays:
        tasks = as_names(arrays["task"], "tasks")
        split = as_names(arrays["split"], "splits") if "split" in arrays else None
        return Features(tasks, arrays["x"], split, SoftLabels.gold(tasks, arrays["y"]) if "y" in arrays else None)
    splits = [name[2:] for name in arrays if name.startswith("x_")]
    if not splits:
        raise InputError(f"{where} holds {sorted(arrays)}; features need x and task, or x_<split> for every split")
    tasks = np.concatenate([_row_names(split, len(arrays[f"x_{split}"]), items) for split in splits])
    x = np.concatenate([arrays[f"x_{split}"] for split in splits])
    split_of = np.repeat(as_names(splits), [len(arrays[f"x_{split}"]) for split in splits])
    gold = None
    if all(f"y_{split}" in arrays for split in splits):
        gold = SoftLabels.gold(tasks, np.concatenate([arrays[f"y_{split}"] for split in splits]))
    return Features(tasks, x, split_of, gold)


def _row_names(split: str, n: int, items: pl.DataFrame | None) -> Names:
    names = [f"{split}-{i}" for i in range(n)]
    if items is not None and {"task", "split", "row"} <= set(items.columns):
        mine = items.filter((pl.col("split") == split) & pl.col("row").is_between(0, n - 1))
        for task, row in mine.select("task", "row").iter_rows():
            names[row] = str(task)
    return as_names(names)


def _plain(names: Names) -> NDArray[Any]:
    """Names in a type that numpy saves without pickling."""
    return np.array(names.tolist()) if names.dtype.kind == "T" else names


def write_features(features: Features, path: Path) -> None:
    """An `.npz` of `x` and `task`, with `split` and `y` where they are known."""
    arrays: dict[str, Any] = {"x": features.x, "task": _plain(features.tasks)}
    if features.split is not None:
        arrays["split"] = _plain(features.split)
    if features.gold is not None:
        arrays["y"] = _plain(features.gold.on(features.tasks).hard())
    with whole_file(path) as part, part.open("wb") as file:
        np.savez(file, **arrays)
