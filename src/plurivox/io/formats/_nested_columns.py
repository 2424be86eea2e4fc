"""Columns with lists or objects in their cells, and lists written as text: find them in any table and return their values."""

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.io.formats._list_texts import is_list_text, parse_list_text
from plurivox.io.tabular.table_files import Columns

N_FIRST = 50  # values that show whether a column is nested
MAY_BE_NESTED = ("List", "Array", "Struct", "String", "Object")  # types of columns, by the start of their name


def nested_column_names(table: Columns) -> list[str]:
    """Return the names of the columns whose first values are lists, objects, or lists written as text."""
    types = _type_names(table)
    return [
        name
        for name in table.names
        if types[name].startswith(MAY_BE_NESTED)
        and (first := _first_values(table, name))
        and all(map(_is_nested, first))
    ]


def nested_values(table: Columns, name: str) -> list[Any]:
    """Return the values of a nested column as lists, dicts and None; lists written as text are parsed."""
    return [_plain_value(value) for value in all_values(table, name)]


def first_nested_values(table: Columns, name: str) -> list[Any]:
    """Return the values of a nested column in the first rows."""
    return [_plain_value(value) for value in first_rows(table, name)]


def _type_names(table: Columns) -> dict[str, str]:
    """Return the type of each column as text; Object if it is unknown."""
    if isinstance(table.source, Path):
        schema = pl.scan_parquet(table.source, glob=False).collect_schema()
        return {name: str(schema[name]) for name in table.names}
    if isinstance(table.source, dict):
        return {name: str(getattr(table.source[name], "dtype", "Object")) for name in table.names} | {
            name: "Object" for name in table.names if not isinstance(table.source[name], pl.Series)
        }
    return {str(name): str(kind) for name, kind in table.source.schema.items()}


def _first_values(table: Columns, name: str) -> list[Any]:
    """Return the values of a column in the first rows that are not missing, as they are stored."""
    values = map(plain_list, first_rows(table, name))
    return [value for value in values if value is not None and not _is_missing_number(value) and value != ""]


def first_rows(table: Columns, name: str) -> list[Any]:
    """Return the values of a column in the first rows, as they are stored."""
    if isinstance(table.source, Path):
        return pl.scan_parquet(table.source, glob=False).select(name).head(N_FIRST).collect()[name].to_list()
    if isinstance(table.source, dict):
        return list(islice(iter(table.source[name]), N_FIRST))
    return list(table.source.get_column(_native_name(table, name)).head(N_FIRST).to_list())


def all_values(table: Columns, name: str) -> list[Any]:
    """Return all values of a column, as they are stored."""
    if isinstance(table.source, Path):
        return table[name].to_list()
    if isinstance(table.source, dict):
        return list(table.source[name])
    return list(table.source.get_column(_native_name(table, name)).to_list())


def _native_name(table: Columns, name: str) -> Any:
    """Return the name of a column in the frame itself: pandas may name columns by numbers."""
    return next(one for one in table.source.columns if str(one) == name)


def _is_nested(value: Any) -> bool:
    return isinstance(value, list | dict) or is_list_text(value)


def _is_missing_number(value: Any) -> bool:
    return isinstance(value, float) and value != value


def plain_list(value: Any) -> Any:
    """Return arrays, series and tuples as lists, other values unchanged."""
    if isinstance(value, np.ndarray | np.generic | pl.Series):
        return value.to_list() if isinstance(value, pl.Series) else value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _plain_value(value: Any) -> Any:
    """Return a value of a nested column as a list, a dict or None."""
    value = plain_list(value)
    if isinstance(value, str):
        return parse_list_text(value)
    if isinstance(value, list):
        return [plain_list(one) for one in value]
    if isinstance(value, dict):
        return {key: plain_list(one) for key, one in value.items()}
    return None
