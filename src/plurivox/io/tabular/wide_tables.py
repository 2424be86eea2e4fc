"""Wide tables of votes, a row a task and a column a worker, as long columns."""

from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError
from plurivox.io.tabular.table_files import Columns


def long_of_wide(table: Columns, task: str | None) -> Columns:
    """A wide table (a row a task, a column a worker) as long columns."""
    if task is not None:
        table.need({"task": task})
    people = [name for name in table.names if name != task]
    if not people:
        raise InputError(f"{table.where} has no column besides {task!r}; a wide table has one column a worker")
    found = {name: table[name] for name in people}
    columns = [column if column.null_count() < len(column) else column.cast(pl.Null) for column in found.values()]
    said = _stacked(columns, table.where)
    n = len(columns[0])
    tasks = pl.Series("task", np.arange(n)) if task is None else table[task]
    named = pl.Series("worker", np.repeat(np.array(people, dtype=object), n).tolist(), dtype=pl.String)
    long = {"task": pl.concat([tasks] * len(people)), "worker": named, "label": said}
    return Columns(long, list(long), table.where)


def _stacked(columns: list[pl.Series], where: str) -> pl.Series:
    """The columns of a wide table one under the other, in one kind; a column without a vote fits every kind."""
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
        raise InputError(f"the columns of {where} hold labels of different kinds: {names}; make them all text")
    try:
        return pl.concat([column.cast(common).alias("label") for column in columns])
    except pl.exceptions.PolarsError:
        raise InputError(f"{where} holds labels that are too large for whole numbers; turn them into text") from None
