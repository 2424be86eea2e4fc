"""Columns of any table, one at a time, and their values as codes.

A table may be a pandas, polars or Arrow frame, a mapping of arrays, or a Parquet file that is read column by column so that
text lives in memory only while it is coded.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError
from plurivox.core.types import TEXT, Ints, Names

SHOWN = 12  # column names in a message
NUMBERED = 4  # whole numbers within this many times the row count are coded by a table, not by sorting

# what a column of answers may be called; the first name is the one we write
CALLED = {
    "top": ("top", "label", "label1"),
    "top_percent": ("top_percent", "percent", "prob", "probability"),
    "second": ("second", "label2"),
    "second_percent": ("second_percent", "percent2", "prob2"),
    "never": ("never", "impossible"),
    "possible": ("possible",),
    "position": ("position", "trial"),
    "sitting": ("sitting", "batch", "session"),
}
MORE_THAN_VOTES = ("top", "abstain", "none_of_these", *CALLED["second"], *CALLED["never"], *CALLED["possible"])


@dataclass(frozen=True)
class Columns:
    """A table seen as named columns."""

    source: Any  # a narwhals frame, a mapping of arrays, or the path of a Parquet file
    names: list[str]
    where: str  # how messages call it

    @classmethod
    def of(cls, data: Any, where: str = "the table") -> "Columns":
        """Any frame, a mapping name -> values, or a Parquet file."""
        if isinstance(data, Columns):
            return data
        if isinstance(data, str | Path):
            return cls(*_parquet(Path(data)))
        if isinstance(data, Mapping):
            return cls(dict(data), [str(name) for name in data], where)
        try:
            frame = nw.from_native(data, allow_series=False)
        except TypeError:
            raise InputError(
                f"{type(data).__name__} is not a table; give a pandas, polars or Arrow frame, or arrays"
            ) from None
        except nw.exceptions.DuplicateError:
            twice = sorted({str(name) for name in data.columns if list(data.columns).count(name) > 1})
            raise InputError(f"{where} has columns of the same name: {twice}; rename them") from None
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        return cls(frame, [str(name) for name in frame.columns], where)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> pl.Series:
        if isinstance(self.source, Path):
            return _read_parquet(self.source, name)
        if isinstance(self.source, dict):
            return series(self.source[name], name)
        native = next(one for one in self.source.columns if str(one) == name)  # pandas may name columns by numbers
        return _of_frame(self.source.get_column(native), name)

    def hold_answers(self, label: str | None = None) -> bool:
        """Whether a percent stands beside the label, or a second label, labels ruled out, ...: more than plain votes.

        `label` is a further name that the column of the label may have.
        """
        if not set(MORE_THAN_VOTES).isdisjoint(self.names):
            return True
        labelled = label in self.names or not set(CALLED["top"]).isdisjoint(self.names)
        return labelled and not set(CALLED["top_percent"]).isdisjoint(self.names)

    def categories(self, name: str) -> list[str] | None:
        """The values a column may have, in their order, where its type lists them (Enum, ordered categories)."""
        if isinstance(self.source, Path | dict):
            return None
        kind = self.source.get_column(next(one for one in self.source.columns if str(one) == name)).dtype
        return [str(one) for one in kind.categories] if isinstance(kind, nw.Enum) else None

    def need(self, wanted: Mapping[str, str | None]) -> None:
        """Complain about columns that are not there; `wanted` maps what a column is for to its name."""
        lacking = [name for name in wanted.values() if name is not None and name not in self.names]
        if lacking:
            roles = [role for role, name in wanted.items() if name in lacking]
            more = f" and {len(self.names) - SHOWN} more" if len(self.names) > SHOWN else ""
            raise InputError(
                f"{self.where} lacks columns {lacking}; it has {self.names[:SHOWN]}{more}; {_way_out(roles, wanted)}"
            )


def _way_out(roles: list[str], wanted: Mapping[str, str | None]) -> str:
    """What to do about columns that are not there; `roles` are what they are for."""
    if roles == ["worker", "label"]:
        return (
            f"if every column beside {wanted['task']!r} is a worker, it is a wide table: wide=True (on the command line "
            "--wide); if they have other names, say worker=..., label=... (--worker ..., --label ...)"
        )
    here, there = (
        ", ".join(f"{before}{role}{after}" for role in roles) for before, after in (("", "=..."), ("--", " ..."))
    )
    other = "it has another name" if len(roles) == 1 else "they have other names"
    hint = f"say {here} (on the command line {there}) if {other}"
    return f"{hint}; the first line must name the columns" if len(roles) == len(wanted) > 1 else hint


def series(values: Any, what: str) -> pl.Series:
    """Any sequence as a polars series; None and NaN are missing."""
    if isinstance(values, pl.Series):
        return values.alias(what)
    if nw.dependencies.is_into_series(values):
        return _of_frame(nw.from_native(values, series_only=True), what)
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise InputError(f"{what} is {values!r}; give a list, an array or a column")
    if isinstance(values, np.ndarray) and values.dtype.kind not in "OT":
        if values.ndim != 1:
            raise InputError(f"{what} must be a flat list; got an array of shape {values.shape}")
        return pl.Series(what, values, nan_to_null=True)
    return _of_objects(values.tolist() if isinstance(values, np.ndarray) else list(values), what)


def _of_frame(column: Any, what: str) -> pl.Series:
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


def _parquet(path: Path) -> tuple[Path, list[str], str]:
    """A Parquet file and its column names, or an error that names the file."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        return path, pl.scan_parquet(path, glob=False).collect_schema().names(), path.name
    except (pl.exceptions.PolarsError, OSError) as cause:
        raise InputError(f"{path} cannot be read as Parquet; it may be damaged or another kind of file") from cause


def _read_parquet(path: Path, name: str) -> pl.Series:
    try:
        return pl.read_parquet(path, columns=[name], glob=False)[name]
    except (pl.exceptions.PolarsError, OSError) as cause:
        raise InputError(f"column {name!r} of {path} cannot be read; the file may be damaged") from cause
