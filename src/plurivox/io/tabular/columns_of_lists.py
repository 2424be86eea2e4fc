"""Columns with lists or objects in their cells, such as embeddings: a plain table of votes or labels is read without them."""

from collections.abc import Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from plurivox.core.errors import InputError, first_few
from plurivox.io.tabular.table_files import Columns

N_FIRST = 20  # values that tell whether a column of Python objects has lists


def without_columns_of_lists(table: Columns, named: Iterable[Any] = ()) -> Columns:
    """Return a table without its columns of lists and objects. Raise InputError if no other is left, or if one is `named`.

    >>> without_columns_of_lists(Columns.from_frame_mapping_or_parquet({"t": ["a"], "l": [1], "v": [[0.5, 2.0]]})).names
    ['t', 'l']
    """
    nested = columns_of_lists(table)
    if not nested:
        return table
    asked = [name for name in nested if any(isinstance(one, str) and one == name for one in named)]
    if asked:
        raise InputError(
            f"column {asked[0]!r} of {table.where} has lists or objects that are not labels (they hardly repeat, or are "
            "decimals): use one row for each vote"
        )
    plain = [name for name in table.names if name not in nested]
    if len(plain) < 2 and not table.index:
        raise InputError(
            f"{table.where} has no column of labels; {first_few(nested)} have lists or objects, which are not clearly the "
            "labels of a task: name the column of lists with the labels, label=... (--label)"
        )
    return replace(table, names=plain)


def columns_of_lists(table: Columns) -> list[str]:
    """Return the names of the columns whose cells are lists or objects, not text."""
    return [name for name in table.names if _has_lists(table, name)]


def _has_lists(table: Columns, name: str) -> bool:
    """Return whether a column has lists or objects: by its type, or by its first values if they can be of any type."""
    if isinstance(table.source, Path):
        return bool(table.may_hold_names(name) is False and table[name].dtype.is_nested())
    column = (
        table.source[name]
        if isinstance(table.source, dict)
        else table.source.get_column(next(one for one in table.source.columns if str(one) == name))
    )
    kind = getattr(column, "dtype", None)
    if kind is not None and hasattr(kind, "is_nested") and kind.is_nested():
        return True
    if isinstance(column, np.ndarray) and column.dtype != object:
        return False
    if kind is not None and not isinstance(column, np.ndarray) and str(kind) != "Object":
        return False
    return any(isinstance(value, list | dict | np.ndarray | tuple) for value in islice(iter(column), N_FIRST))
