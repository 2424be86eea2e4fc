"""Convert wide tables of votes (one row per task, one column per worker) to long tables."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.wide_worker_columns import find_worker_columns


def wide_to_long(
    table: Columns, task_column: str | None, worker_columns: Iterable[object] | None = None
) -> tuple[Columns, list[str]]:
    """Return a wide table of votes (one row per task, one column per worker) as long columns task, worker, label, and notes.

    `worker_columns` are the columns to read; None: all but the task column, with an error for those that are not workers.
    """
    if task_column is not None:
        table.check_has_columns({"task": task_column})
    workers, notes = find_worker_columns(table, task_column, worker_columns)
    found = {name: table[name] for name in workers}
    columns = [column if column.null_count() < len(column) else column.cast(pl.Null) for column in found.values()]
    labels = _stack_columns_into_one_series(columns, table.where)
    orders = {tuple(table.ordered_categories_or_none(name) or ()) for name in workers}
    if len(orders) == 1 and (order := orders.pop()):  # the workers' columns have the same ordered categories
        labels = labels.cast(pl.Enum(order))
    n = len(columns[0])
    tasks = pl.Series("task", np.arange(n)) if task_column is None else table[task_column]
    named = pl.Series("worker", np.repeat(np.array(workers, dtype=object), n).tolist(), dtype=pl.String)
    long = {"task": pl.concat([tasks] * len(workers)), "worker": named, "label": labels}
    return Columns(long, list(long), table.where, is_untyped=table.is_untyped), notes


def _stack_columns_into_one_series(columns: list[pl.Series], where: str) -> pl.Series:
    """Return the columns of a wide table concatenated into one series of a common type; raise InputError if there is none."""
    kinds = {column.dtype for column in columns if column.dtype != pl.Null}
    texts = (pl.String, pl.Categorical, pl.Enum)
    if all(isinstance(kind, texts) for kind in kinds):
        common: Any = pl.String
    elif all(kind.is_numeric() for kind in kinds):
        common = pl.Float64 if any(kind.is_float() for kind in kinds) else pl.Int64
    elif len(kinds) == 1:
        common = next(iter(kinds))
    else:
        names = ", ".join(sorted(map(str, kinds)))
        raise InputError(
            f"the columns of {where} contain labels of different types: {names}; "
            "convert them all to text, or name the worker columns: worker=[...] (--worker a,b)"
        )
    try:
        return pl.concat([column.cast(common).alias("label") for column in columns])
    except pl.exceptions.PolarsError:
        raise InputError(
            f"{where} contains labels that are too large for whole numbers; convert them to text"
        ) from None
