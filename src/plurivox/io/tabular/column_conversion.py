"""Convert table columns: any sequence to a polars series, a series to numpy arrays of names, codes, numbers or times.

Values keep their type; a value that cannot be converted is an error.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Floats, Ints, Names
from plurivox.core.errors import InputError, first_few
from plurivox.core.name_encoding import as_names

WHOLE_NUMBER_WITH_DECIMAL = re.compile(r"-?\d+\.0")
MAX_CODE_RANGE = 4  # integers whose range is below this many times the row count are encoded by a lookup table
Kind = type[str] | type[int] | type[float] | type[bool]
COLUMN_TYPES: dict[Kind, tuple[type[pl.DataType], str]] = {
    str: (pl.String, "text"),
    int: (pl.Int64, "whole numbers"),
    float: (pl.Float64, "numbers"),
    bool: (pl.Boolean, "booleans (true or false)"),
}
BOOLEAN_TEXTS = {"true": True, "1": True, "false": False, "0": False}


# ---- any sequence to a series


def to_series(values: Any, name_in_errors: str) -> pl.Series:
    """Return any sequence as a polars series; None and NaN become missing. `name_in_errors` names the column in errors."""
    if isinstance(values, pl.Series):
        return values.alias(name_in_errors)
    if nw.dependencies.is_into_series(values):
        return narwhals_to_polars(nw.from_native(values, series_only=True), name_in_errors)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{name_in_errors} must be a list, an array or a column; got {values!r}")
    if isinstance(values, np.ndarray) and values.dtype.kind not in "OT":
        if values.ndim != 1:
            raise InputError(f"{name_in_errors} must be one-dimensional; got an array of shape {values.shape}")
        return pl.Series(name_in_errors, values, nan_to_null=True)
    return _same_type_values_to_series(
        values.tolist() if isinstance(values, np.ndarray) else list(values), name_in_errors
    )


def narwhals_to_polars(column: Any, name_in_errors: str) -> pl.Series:
    """Return a narwhals column as a polars series; NaN becomes missing."""
    if column.dtype == nw.Object:  # pandas: text, booleans and None may be mixed here
        return _same_type_values_to_series(column.to_list(), name_in_errors)
    try:
        found = column.to_polars().alias(name_in_errors)
    except (ImportError, TypeError, pl.exceptions.PolarsError):  # pandas text without pyarrow, sparse columns
        return _same_type_values_to_series(column.to_list(), name_in_errors)
    return found.fill_nan(None) if found.dtype.is_float() else found


def _same_type_values_to_series(values: list[Any], name_in_errors: str) -> pl.Series:
    """Return a list of Python values as a polars series; raise InputError if their types differ."""
    plain = [None if is_none_nan_or_na(value) else value for value in values]
    # raises InputError if types are mixed
    names = as_names([value for value in plain if value is not None], name_in_errors)
    kind = {"T": pl.String, "i": pl.Int64, "f": pl.Float64, "b": pl.Boolean}[names.dtype.kind]
    return pl.Series(name_in_errors, plain, dtype=kind, strict=False)


def is_none_nan_or_na(value: Any) -> bool:
    """Return whether a Python value is None, NaN, NaT or the NA of pandas."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


# ---- names and codes


def codes_names_and_notes_of_column(column: pl.Series, name_in_errors: str) -> tuple[Ints, Names, list[str]]:
    """Return (integer codes, sorted names, notes) of a column; the code is -1 if the value is missing or empty text."""
    if column.dtype in (pl.Int128, pl.UInt64):
        column = _to_int64_or_error_if_too_large(column, name_in_errors)
    if isinstance(column.dtype, pl.Categorical | pl.Enum | pl.Date | pl.Datetime | pl.Time):
        column = column.cast(pl.String)
    if column.dtype == pl.String:
        return *_codes_and_distinct_texts(column), []
    if column.dtype == pl.Null:
        return np.full(len(column), -1, np.int32), np.array([], dtype=TEXT), []
    if column.dtype.is_float():
        column = column.fill_nan(None)
        known = column.drop_nulls().to_numpy()
        if column.null_count() and len(known) and (known == np.floor(known)).all() and np.abs(known).max() < 2**53:
            note = f"{name_in_errors}s are whole numbers that missing values had turned into decimals; read as whole numbers"
            return *_codes_and_distinct_numbers(column.cast(pl.Int64)), [note]
        return *_codes_and_distinct_numbers(column.cast(pl.Float64)), []
    if column.dtype.is_integer() or column.dtype == pl.Boolean:
        return *_codes_and_distinct_numbers(column), []
    raise InputError(
        f"{name_in_errors} values are of the unsupported type {column.dtype}; use text, whole numbers, numbers or booleans"
    )


def _to_int64_or_error_if_too_large(column: pl.Series, name_in_errors: str) -> pl.Series:
    """Return a column of integers as 64-bit integers; raise InputError if a number is too large."""
    try:
        return column.cast(pl.Int64)
    except pl.exceptions.PolarsError:
        raise InputError(f"{name_in_errors}s contain whole numbers of 2**63 or more; convert them to text") from None


def _codes_and_distinct_texts(column: pl.Series) -> tuple[Ints, Names]:
    """Return (integer codes, sorted distinct texts) of a text column; code -1 for missing or empty text."""
    names = column.unique().sort()
    names = names.filter(names.is_not_null() & (names != ""))
    index = pl.LazyFrame({"name": names, "code": np.arange(len(names), dtype=np.int32)})
    rows = column.alias("name").to_frame().lazy().join(index, on="name", how="left", maintain_order="left")
    codes = rows.select(pl.col("code").fill_null(-1)).collect()["code"]
    return codes.to_numpy(), np.array(names.to_list(), dtype=TEXT)


def _codes_and_distinct_numbers(column: pl.Series) -> tuple[Ints, Names]:
    """Return (integer codes, sorted distinct values) of a column of numbers or booleans; code -1 for missing values."""
    missing = column.is_null().to_numpy()
    values = as_names(column.drop_nulls().to_numpy(), column.name)
    codes = np.full(len(column), -1, np.int32)
    if (
        values.dtype.kind == "i"
        and len(values)
        and int(values.max()) - int(values.min()) < MAX_CODE_RANGE * len(values)
    ):
        low = int(values.min())
        occurs = np.zeros(int(values.max()) - low + 1, bool)
        occurs[values - low] = True
        rank = np.cumsum(occurs, dtype=np.int32) - np.int32(1)
        codes[~missing] = rank[values - low]
        return codes, np.flatnonzero(occurs) + low
    names, inverse = np.unique(values, return_inverse=True)
    codes[~missing] = inverse
    return codes, names


def whole_numbers_without_decimals_or_none(names: Names, ignored: Collection[str] = ()) -> Names | None:
    """Return the texts 1.0, 2.0, ... as 1, 2, ... if all names but those `ignored` are such texts; None if they are not.

    pandas writes a column of whole numbers with missing values so.

    >>> whole_numbers_without_decimals_or_none(as_names(["1.0", "10.0"])).tolist()
    ['1', '10']
    """
    texts = names.tolist() if names.dtype.kind == "T" else []
    numbers = [text for text in texts if text not in ignored]
    if not numbers or not all(WHOLE_NUMBER_WITH_DECIMAL.fullmatch(text) for text in numbers):
        return None
    return as_names([text.removesuffix(".0") for text in texts])


# ---- numbers and times


def to_seconds(column: pl.Series, name_in_errors: str) -> np.ndarray:
    """Return a column of times in seconds: numbers unchanged, dates and ISO texts as seconds since 1970; NaN if missing."""
    if column.dtype == pl.String:
        column = _parse_as_all_numbers_or_all_datetimes(column, name_in_errors)
    if isinstance(column.dtype, pl.Datetime | pl.Date):
        return column.cast(pl.Datetime("us")).dt.epoch("us").cast(pl.Float64).to_numpy() / 1e6
    if isinstance(column.dtype, pl.Duration):
        return column.dt.total_microseconds().cast(pl.Float64).to_numpy() / 1e6
    if not column.dtype.is_numeric() and column.dtype != pl.Null:
        raise InputError(f"{name_in_errors} is of type {column.dtype}; times must be numbers or dates")
    return column.cast(pl.Float64).to_numpy()


def _parse_as_all_numbers_or_all_datetimes(column: pl.Series, name_in_errors: str) -> pl.Series:
    """Return a text column as numbers, or as datetimes if all texts are ISO dates; raise InputError for other texts."""
    given = column.is_not_null() & (column.str.strip_chars() != "")
    numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    if not (given & numbers.is_null()).any():
        return numbers
    dates = (
        column.str.to_datetime(strict=False, time_zone="UTC") if (given & numbers.is_not_null()).sum() == 0 else numbers
    )
    if (given & dates.is_null()).any():
        bad = column.filter(given & dates.is_null())
        row = (given & dates.is_null()).arg_true()[0] + 1
        raise InputError(
            f"{name_in_errors} contains {bad[0]!r} in row {row}, which is neither a number nor an ISO date"
        )
    return dates


def to_floats_or_error_if_missing(column: pl.Series, name_in_errors: str) -> np.ndarray:
    """Return a column as floats, parsing text; raise InputError for a missing value or text that is not a number."""
    found = column.cast(pl.Float64, strict=False)
    if found.null_count():
        bad = column.filter(found.is_null()).to_list()
        row = found.is_null().arg_true()[0] + 1
        raise InputError(
            f"{name_in_errors}, row {row}: {'missing value' if bad[0] is None else f'{bad[0]!r} is not a number'}"
        )
    return found.to_numpy()


# ---- columns of files; errors name the file


def cast_column(column: pl.Series, target_type: Kind, path: str | Path) -> pl.Series:
    """Return the column converted to text, integers, floats or booleans; raise InputError for a value that cannot be."""
    dtype, type_name = COLUMN_TYPES[target_type]
    source = column
    if column.dtype == pl.String and target_type is not str:
        text = column.str.strip_chars()
        source = column = pl.select(pl.when(text != "").then(text)).to_series()
        if target_type is bool:
            source = column.str.to_lowercase().replace_strict(BOOLEAN_TEXTS, default=None, return_dtype=pl.Boolean)
    result = source.cast(dtype, strict=False)
    failed = column.is_not_null() & result.is_null()
    if target_type is int and column.dtype.is_float():
        failed = failed | (result != column)
    if failed.any():
        raise InputError(
            f"column {column.name!r} of {path} must contain {type_name}; row {first_few(failed.arg_true() + 1)} contains "
            f"{first_few(column.filter(failed))}"
        )
    return result


def to_names_or_error_if_missing(column: pl.Series, path: str | Path) -> Names:
    """Return a column of task, worker or label names as an array of the same type; raise InputError for missing values."""
    if column.dtype in (pl.Categorical, pl.Enum):
        column = column.cast(pl.String)
    what = f"column {column.name!r} of {path}"
    if column.null_count():
        rows = column.is_null().arg_true() + 1
        raise InputError(f"missing value in {what}, row {first_few(rows)}; fill it or drop the row")
    if column.dtype == pl.String:
        return as_names(column.to_list(), what)
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        raise InputError(
            f"{what} is of the unsupported type {column.dtype}; use text, whole numbers, numbers or booleans"
        )
    return as_names(column.to_numpy(), what)


def to_floats_nan_if_missing(column: pl.Series, path: str | Path) -> Floats:
    """Return a table column as floats, NaN if missing; raise InputError for a value that is not a number."""
    return cast_column(column, float, path).cast(pl.Float64).fill_null(float("nan")).to_numpy()


def frame_of(columns: Mapping[str, NDArray[Any] | Sequence[Any]], path: str | Path) -> pl.DataFrame:
    """Return a polars DataFrame of named columns: numpy arrays, or lists in which None is missing."""
    sizes = {len(column) for column in columns.values()}
    if len(sizes) > 1:
        raise InputError(f"the columns for {path} have different lengths: {sorted(sizes)}")
    return pl.DataFrame([_array_to_series(name, column, path) for name, column in columns.items()])


def stack_frames_by_rows(frames: Sequence[pl.DataFrame], column_names: Sequence[str]) -> pl.DataFrame:
    """Return the frames concatenated by rows, columns in the order of `column_names`; absent columns are filled with nulls."""
    whole = (
        pl.concat(frames, how="diagonal_relaxed")
        if frames
        else pl.DataFrame(schema=dict.fromkeys(column_names, pl.String))
    )
    return whole.select([name for name in column_names if name in whole.columns])


def _array_to_series(name: str, column: NDArray[Any] | Sequence[Any], path: str | Path) -> pl.Series:
    """Return an array or list as a polars series; raise InputError if it mixes types."""
    if isinstance(column, np.ndarray):
        if column.dtype.kind in "biuf":
            return pl.Series(name, column)
        column = column.tolist()
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {int, float} and float in kinds:
        return pl.Series(name, [None if value is None else float(value) for value in column], dtype=pl.Float64)
    known = sorted(COLUMN_TYPES[kind][1] if kind in COLUMN_TYPES else kind.__name__ for kind in kinds)
    if len(known) > 1:
        raise InputError(f"column {name!r} of {path} mixes {' and '.join(known)}; convert them all to text")
    kind = next(iter(kinds), str)
    try:
        return pl.Series(name, column, dtype=COLUMN_TYPES[kind][0] if kind in COLUMN_TYPES else None)
    except (TypeError, OverflowError, pl.exceptions.PolarsError) as cause:
        raise InputError(
            f"column {name!r} of {path} contains {known[0]} that are too large; convert them all to text"
        ) from cause
