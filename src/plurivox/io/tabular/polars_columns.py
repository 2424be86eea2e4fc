"""Columns on their way between numpy and polars, with kinds that never change in silence."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, some
from plurivox.core.types import Floats, Names

Kind = type[str] | type[int] | type[float] | type[bool]
KINDS: dict[Kind, tuple[type[pl.DataType], str]] = {
    str: (pl.String, "text"),
    int: (pl.Int64, "whole numbers"),
    float: (pl.Float64, "numbers"),
    bool: (pl.Boolean, "truth values"),
}
TRUTH = {"true": True, "1": True, "false": False, "0": False}


def require_columns(frame: pl.DataFrame, names: Iterable[str], path: str | Path) -> None:
    """Say which columns a table lacks, and which it has.

    >>> require_columns(pl.DataFrame({"task": [1], "label": [1], "user": [1]}), ["task", "worker"], "votes.csv")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: votes.csv lacks columns ['worker']; it has ['task', 'label', 'user']
    """
    if absent := [name for name in names if name not in frame.columns]:
        more = f" and {frame.width - 12} more" if frame.width > 12 else ""
        raise InputError(f"{path} lacks columns {absent}; it has {frame.columns[:12]}{more}")


def frame_of(columns: Mapping[str, NDArray[Any] | Sequence[Any]], path: str | Path) -> pl.DataFrame:
    """A frame of named columns: numpy arrays as nouns give them, or lists where None is missing."""
    sizes = {len(column) for column in columns.values()}
    if len(sizes) > 1:
        raise InputError(f"the columns for {path} have different lengths: {sorted(sizes)}")
    return pl.DataFrame([_series(name, column, path) for name, column in columns.items()])


def join_frames(frames: Sequence[pl.DataFrame], names: Sequence[str]) -> pl.DataFrame:
    """Frames below each other, with columns in the order of `names`; a column that one of them lacks is empty there."""
    whole = (
        pl.concat(frames, how="diagonal_relaxed") if frames else pl.DataFrame(schema=dict.fromkeys(names, pl.String))
    )
    return whole.select([name for name in names if name in whole.columns])


def _series(name: str, column: NDArray[Any] | Sequence[Any], path: str | Path) -> pl.Series:
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "biuf":
            return pl.Series(name, column)
        column = column.tolist()
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {int, float} and float in kinds:
        return pl.Series(name, [None if value is None else float(value) for value in column], dtype=pl.Float64)
    known = sorted(KINDS[kind][1] if kind in KINDS else kind.__name__ for kind in kinds)
    if len(known) > 1:
        raise InputError(f"column {name!r} of {path} mixes {' and '.join(known)}; make them all text")
    kind = next(iter(kinds), str)
    try:
        return pl.Series(name, column, dtype=KINDS[kind][0] if kind in KINDS else None)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as cause:
        raise InputError(f"column {name!r} of {path} holds {known[0]} that do not fit; make them all text") from cause


def cast(column: pl.Series, kind: Kind, path: str | Path) -> pl.Series:
    """The column in another kind; a value that cannot be of that kind is an error that names it."""
    wanted, words = KINDS[kind]
    source = column
    if column.dtype == pl.String and kind is not str:
        text = column.str.strip_chars()
        source = column = pl.select(pl.when(text != "").then(text)).to_series()
        if kind is bool:
            source = column.str.to_lowercase().replace_strict(TRUTH, default=None, return_dtype=pl.Boolean)
    result = source.cast(wanted, strict=False)
    lost = column.is_not_null() & result.is_null()
    if kind is int and column.dtype.is_float():
        lost = lost | (result != column)
    if lost.any():
        raise InputError(f"column {column.name!r} of {path} must hold {words}; look at {some(column.filter(lost))}")
    return result


def names_of(column: pl.Series, path: str | Path) -> Names:
    """The column as names: text, whole numbers, numbers or truth values, as they are in the file."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    what = f"column {column.name!r} of {path}"
    if column.null_count():
        rows = column.is_null().arg_true() + 1
        raise InputError(f"{what} has no value in row {some(rows)}; fill it or drop the row")
    if column.dtype == pl.String:
        return as_names(column.to_list(), what)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(f"{what} holds {column.dtype}; use text, whole numbers, numbers or truth values")
    return as_names(column.to_numpy(), what)


def numbers_of(column: pl.Series, path: str | Path) -> Floats:
    """The column as numbers, nan where a value is missing."""
    return cast(column, float, path).cast(pl.Float64).fill_null(float("nan")).to_numpy()
