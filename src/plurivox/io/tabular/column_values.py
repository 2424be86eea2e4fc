"""Columns of values: any sequence as a polars series, series as numpy arrays of names, codes, numbers and times, and back.

Values keep their kinds on the way, or the change is an error.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, first_few
from plurivox.core.types import TEXT, Floats, Ints, Names

NUMBERED = 4  # whole numbers within this many times the row count are coded by a table, not by sorting
Kind = type[str] | type[int] | type[float] | type[bool]
KINDS: dict[Kind, tuple[type[pl.DataType], str]] = {
    str: (pl.String, "text"),
    int: (pl.Int64, "whole numbers"),
    float: (pl.Float64, "numbers"),
    bool: (pl.Boolean, "truth values"),
}
TRUTH = {"true": True, "1": True, "false": False, "0": False}


# ---- any sequence as a series


def series(values: Any, what: str) -> pl.Series:
    """Any sequence as a polars series; None and NaN are missing."""
    if isinstance(values, pl.Series):
        return values.alias(what)
    if nw.dependencies.is_into_series(values):
        return series_of_narwhals(nw.from_native(values, series_only=True), what)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{what} is {values!r}; give a list, an array or a column")
    if isinstance(values, np.ndarray) and values.dtype.kind not in "OT":
        if values.ndim != 1:
            raise InputError(f"{what} must be a flat list; got an array of shape {values.shape}")
        return pl.Series(what, values, nan_to_null=True)
    return _of_objects(values.tolist() if isinstance(values, np.ndarray) else list(values), what)


def series_of_narwhals(column: Any, what: str) -> pl.Series:
    """A column of a narwhals frame as a polars series; NaN is missing."""
    if column.dtype == nw.Object:  # pandas: text, truth values and None may be mixed in here
        return _of_objects(column.to_list(), what)
    try:
        found = column.to_polars().alias(what)
    except (ImportError, TypeError, pl.exceptions.PolarsError):  # pandas text without pyarrow, sparse columns
        return _of_objects(column.to_list(), what)
    return found.fill_nan(None) if found.dtype.is_float() else found


def _of_objects(values: list[Any], what: str) -> pl.Series:
    plain = [None if _is_missing(value) else value for value in values]
    names = as_names([value for value in plain if value is not None], what)  # one kind of value, or an error
    kind = {"T": pl.String, "i": pl.Int64, "f": pl.Float64, "b": pl.Boolean}[names.dtype.kind]
    return pl.Series(what, plain, dtype=kind, strict=False)


def _is_missing(value: Any) -> bool:
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


# ---- names and codes


def code(column: pl.Series, what: str) -> tuple[Ints, Names, list[str]]:
    """(codes, sorted names, notes): -1 where the value is missing; empty text is missing too."""
    if column.dtype in (pl.Int128, pl.UInt64):
        column = _narrow(column, what)
    if isinstance(column.dtype, pl.Categorical | pl.Enum | pl.Date | pl.Datetime | pl.Time):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        return *_code_text(column), []
    if column.dtype == pl.Null:
        return np.full(len(column), -1, np.int32), np.array([], dtype=TEXT), []
    if column.dtype.is_float():
        column = column.fill_nan(None)
        known = column.drop_nulls().to_numpy()
        if column.null_count() and len(known) and (known == np.floor(known)).all() and np.abs(known).max() < 2**53:
            note = f"{what}s are whole numbers that missing values had turned into decimals; read as whole numbers"
            return *_code_numbers(column.cast(pl.Int64)), [note]
        return *_code_numbers(column.cast(pl.Float64)), []
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return *_code_numbers(column), []
    raise InputError(f"{what} values are of type {column.dtype}; use text, whole numbers, numbers or truth values")


def _narrow(column: pl.Series, what: str) -> pl.Series:
    try:
        return column.cast(pl.Int64)
    except pl.exceptions.PolarsError:
        raise InputError(f"{what}s hold whole numbers of 2**63 or more; turn them into text") from None


def _code_text(column: pl.Series) -> tuple[Ints, Names]:
    names = column.unique().sort()
    names = names.filter(names.is_not_null() & (names != ""))
    index = pl.LazyFrame({"name": names, "code": np.arange(len(names), dtype=np.int32)})
    rows = column.alias("name").to_frame().lazy().join(index, on="name", how="left", maintain_order="left")
    codes = rows.select(pl.col("code").fill_null(-1)).collect()["code"]
    return codes.to_numpy(), np.array(names.to_list(), dtype=TEXT)


def _code_numbers(column: pl.Series) -> tuple[Ints, Names]:
    missing = column.is_null().to_numpy()
    values = as_names(column.drop_nulls().to_numpy(), column.name)
    codes = np.full(len(column), -1, np.int32)
    if values.dtype.kind == "i" and len(values) and int(values.max()) - int(values.min()) < NUMBERED * len(values):
        low = int(values.min())
        seen = np.zeros(int(values.max()) - low + 1, bool)
        seen[values - low] = True
        rank = np.cumsum(seen, dtype=np.int32) - np.int32(1)
        codes[~missing] = rank[values - low]
        return codes, np.flatnonzero(seen) + low
    names, inverse = np.unique(values, return_inverse=True)
    codes[~missing] = inverse
    return codes, names


# ---- numbers and times


def seconds_of(column: pl.Series, what: str) -> np.ndarray:
    """Times as seconds since 1970: numbers as they are, dates and ISO texts converted; nan where missing."""
    if column.dtype == pl.String:
        column = _read_times(column, what)
    if isinstance(column.dtype, pl.Datetime | pl.Date):
        return column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6
    if isinstance(column.dtype, pl.Duration):
        return column.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6
    if not column.dtype.is_numeric() and column.dtype != pl.Null:
        raise InputError(f"{what} is of type {column.dtype}; give numbers or dates")
    return column.cast(pl.Float64).to_numpy()


def _read_times(column: pl.Series, what: str) -> pl.Series:
    """Texts that are all numbers, or all ISO dates."""
    said = column.is_not_null() & (column.str.strip_chars() != "")
    numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    if not (said & numbers.is_null()).any():
        return numbers
    dates = (
        column.str.to_datetime(strict=False, time_zone="UTC") if (said & numbers.is_not_null()).sum() == 0 else numbers
    )
    if (said & dates.is_null()).any():
        bad = column.filter(said & dates.is_null())
        raise InputError(f"{what} holds {bad[0]!r}, which is neither a number nor an ISO date")
    return dates


def floats_of(column: pl.Series, what: str) -> np.ndarray:
    """A column of numbers; text is read as numbers where it is all numbers."""
    found = column.cast(pl.Float64, strict=False)
    if found.null_count():
        bad = column.filter(found.is_null()).to_list()
        raise InputError(f"{what} must be numbers; it holds {bad[0]!r}")
    return found.to_numpy()


# ---- columns of files, whose errors name the file


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
        raise InputError(
            f"column {column.name!r} of {path} must hold {words}; look at {first_few(column.filter(lost))}"
        )
    return result


def names_of(column: pl.Series, path: str | Path) -> Names:
    """The column as names: text, whole numbers, numbers or truth values, as they are in the file."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    what = f"column {column.name!r} of {path}"
    if column.null_count():
        rows = column.is_null().arg_true() + 1
        raise InputError(f"{what} has no value in row {first_few(rows)}; fill it or drop the row")
    if column.dtype == pl.String:
        return as_names(column.to_list(), what)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(f"{what} holds {column.dtype}; use text, whole numbers, numbers or truth values")
    return as_names(column.to_numpy(), what)


def numbers_of(column: pl.Series, path: str | Path) -> Floats:
    """The column as numbers, nan where a value is missing."""
    return cast(column, float, path).cast(pl.Float64).fill_null(float("nan")).to_numpy()


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
