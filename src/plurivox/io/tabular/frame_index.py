"""The index of a pandas DataFrame, and the unnamed first column that it becomes in files: names of rows, not data."""

import re
from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

# the names that pandas, R, readr and Parquet files of pandas give to a column of row names
UNNAMED_FIRST_COLUMN = re.compile(r"\s*|Unnamed: 0(\.\d+)?|\.\.\.1|__index_level_0__")
UNNAMED = ""  # name of an index level without a name
UNNAMED_LEVELS = ("", "second level of the index")  # names of two levels without names


def is_pandas_series(data: Any) -> bool:
    """Return whether an object is a pandas Series."""
    return bool(nw.dependencies.is_pandas_series(data))


def index_levels(data: Any) -> dict[str, list[Any]]:
    """Return {name: value of each row} of the levels of the index of a pandas DataFrame; {} if the index only numbers the rows.

    A level without a name is called "". Other tables have no index.
    """
    if not nw.dependencies.is_pandas_dataframe(data):
        return {}
    index = data.index
    if index.nlevels == 1:
        unnamed = index.name is None
        return {} if unnamed and _is_row_numbers(index) else {UNNAMED if unnamed else str(index.name): index.tolist()}
    names = [str(name) if name is not None else UNNAMED_LEVELS[min(i, 1)] for i, name in enumerate(index.names)]
    return {name: index.get_level_values(i).tolist() for i, name in enumerate(names)}


def name_of_columns(data: Any) -> str | None:
    """Return what a pandas DataFrame says that its column names are (`frame.columns.name`), as after a pivot; else None."""
    name = data.columns.name if nw.dependencies.is_pandas_dataframe(data) else None
    return None if name is None else str(name)


def series_as_frame(series: Any) -> Any:
    """Return a pandas Series of labels as a DataFrame with its index and one column, `label` unless the Series has a name."""
    return series.to_frame("label" if series.name is None else series.name)


def is_unnamed_first_column(names: Sequence[str]) -> bool:
    """Return whether the first of these columns has no name, or that which a program gives to a column of row names."""
    return len(names) > 1 and UNNAMED_FIRST_COLUMN.fullmatch(names[0]) is not None


def numbers_rows(column: pl.Series) -> bool:
    """Return whether a column has the values 0, 1, 2, ... or 1, 2, 3, ... in order."""
    numbers = column.cast(pl.Int64, strict=False)
    if numbers.null_count() or not len(numbers) or numbers[0] not in (0, 1):
        return False
    return bool((numbers.to_numpy() == np.arange(len(numbers)) + numbers[0]).all())


def _is_row_numbers(index: Any) -> bool:
    """Return whether an index is 0, 1, 2, ... in order, as pandas makes it."""
    return index.dtype.kind == "i" and bool((index.to_numpy() == np.arange(len(index))).all())
