"""Recognise a table of soft labels, as opposed to votes, by its columns."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import polars as pl

from plurivox.core.errors import InputError
from plurivox.io.soft_label_files import ESTIMATES, PROB_PREFIX, ROUNDING_TOLERANCE
from plurivox.io.tabular.column_roles import find_column, find_gold_label_column
from plurivox.io.tabular.table_files import Columns, read_table
from plurivox.io.tabular.usual_column_names import has_usual_name

OPTIONS_OF_VOTES = {"task", "worker", "label", "missing", "repeats", "wide"}  # options of `read` that only votes have
COLUMNS_BESIDE_SOFT_LABELS = ("confidence", "n", "split", ESTIMATES)


def holds_soft_labels(table: Columns, read_options: Iterable[str]) -> bool:
    """Return whether a table is labels of tasks and not votes: soft labels in a layout of `read_soft`, or a label per task.

    Columns of numbers whose names have no prefix are soft labels only if they are shares that sum to 1 in every row.
    """
    task = find_column(table, "task")
    if task is None or OPTIONS_OF_VOTES & set(read_options) or find_column(table, "worker", [task]) is not None:
        return False
    others = [one for one in table.names if one not in (task, *COLUMNS_BESIDE_SOFT_LABELS)]
    if any(name.startswith(PROB_PREFIX) for name in others):
        return True
    label = _label_column_or_none(table, task, others)
    if label in others:
        has_one_label_per_task = others == [label] and table[task].n_unique() == len(table[task])
        if has_one_label_per_task or sorted(others) == ["label", "p"] or label == "label":
            return has_one_label_per_task or sorted(others) == ["label", "p"]
    numbers = [table[one].cast(pl.Float64, strict=False) for one in others]
    if len(others) < 2 or any(one.null_count() for one in numbers):
        return False
    shares = np.stack([one.to_numpy() for one in numbers], 1)
    return bool((np.abs(shares.sum(1) - 1) <= ROUNDING_TOLERANCE).all()) and bool((shares % 1 != 0).any())


def _label_column_or_none(table: Columns, task: str, others: list[str]) -> str | None:
    """Return the column of a table of gold labels that has the label; None if it has none, or several beside other columns."""
    try:
        return find_gold_label_column(table, task)
    except InputError:
        if all(has_usual_name(name, "gold") or has_usual_name(name, "label") for name in others):
            raise
        return None  # a table of votes, of which the gold labels are not read


def frame_of_columns(table: Columns, path: Path) -> pl.DataFrame:
    """Return a table as a polars DataFrame; a Parquet file is read whole."""
    if isinstance(table.source, Path):
        frame = read_table(path)
        return frame.drop(name for name, kind in frame.schema.items() if kind.is_nested() and name not in table.names)
    return pl.DataFrame({name: table[name] for name in table.names})
