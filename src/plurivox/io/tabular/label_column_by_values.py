"""Find the columns of a table that can be labels by their values: few, short, repeated, and not the same for all workers."""

from collections.abc import Iterable

import polars as pl

MAX_LABELS = 20
MAX_LENGTH = 40  # of a label as text
MIN_REPEATS = 2  # values per different value, on average


def columns_with_few_values(rows: pl.DataFrame, task: str, names: Iterable[str]) -> list[str]:
    """Return which columns have few, short, repeated values; if some differ within tasks, only those.

    The others describe tasks.

    >>> table = {"id": [1, 1, 2, 2], "kind": ["x", "x", "y", "y"], "spam": ["yes", "no", "no", "no"]}
    >>> columns_with_few_values(pl.DataFrame(table), "id", ["kind", "spam"])
    ['spam']
    """
    few = [name for name in names if _has_few_short_values(rows[name])]
    per_task = rows.group_by(task).agg(pl.col(few).drop_nulls().n_unique()) if few else rows
    differing = [name for name in few if per_task[name].max() > 1]  # type: ignore[operator]
    return differing or few


def _has_few_short_values(column: pl.Series) -> bool:
    """Return whether a column has at least two different values, but few, short and repeated ones."""
    if column.dtype.is_nested() or column.dtype.is_temporal():
        return False
    known = column.drop_nulls().cast(pl.String).str.strip_chars()
    known = known.filter(known != "")
    n = known.n_unique()
    return 2 <= n <= MAX_LABELS and MIN_REPEATS * n <= len(known) and bool((known.str.len_chars() <= MAX_LENGTH).all())
