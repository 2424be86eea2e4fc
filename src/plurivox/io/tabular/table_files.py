"""Read and write tables (CSV, TSV, JSON, JSON lines, Parquet, Arrow), read Excel, and access any table by column name."""

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_file
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError
from plurivox.io.tabular.column_conversion import Kind, cast_column, frame_of, narwhals_to_polars, to_series
from plurivox.io.tabular.frame_index import (
    index_levels,
    is_pandas_series,
    is_unnamed_first_column,
    name_of_columns,
    numbers_rows,
    series_as_frame,
)
from plurivox.io.tabular.huggingface_class_labels import (
    class_names_by_column,
    decode_class_labels,
    features_of_parquet,
)
from plurivox.io.tabular.read_csv_and_json import (
    read_delimited_as_text_columns,
    read_json,
    read_json_lines,
    require_file,
    without_blank_rows_at_end,
)
from plurivox.io.tabular.read_excel import read_excel_sheet
from plurivox.io.tabular.table_file_names import (
    EXCEL_SUFFIX,
    OTHER_SPREADSHEET_SUFFIXES,
    READABLE_TABLE_SUFFIXES,
    TABLE_SUFFIXES,
    file_suffix,
)

MAX_NAMES_SHOWN = 12  # column names listed in a message
NO_FILE = "the table"  # what a table in memory is called in messages
HOW_TO_GIVE_ROWS = (
    'name them in their order: pd.DataFrame(rows, columns=["task", "worker", "label"]), '
    "or pv.votes(task=..., worker=..., label=...) with one list each"
)
ARROW_MAGIC = b"ARROW1"  # the first bytes of an Arrow file; a stream has none

TableWriter = Callable[[pl.DataFrame, Any], object]  # (frame, open binary file)
WRITERS: dict[str, TableWriter] = {
    ".csv": lambda frame, file: frame.write_csv(file),
    ".tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    ".jsonl": lambda frame, file: frame.write_ndjson(file),
    ".ndjson": lambda frame, file: frame.write_ndjson(file),
    ".json": lambda frame, file: file.write(frame.write_json().encode()),
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".arrow": lambda frame, file: frame.write_ipc(file),
    ".feather": lambda frame, file: frame.write_ipc(file),
}
# accepted names of each column of answers; the first is the one written
ANSWER_COLUMNS = {
    "top": ("top", "label", "label1"),
    "top_percent": ("top_percent", "percent", "prob", "probability"),
    "second": ("second", "label2"),
    "second_percent": ("second_percent", "percent2", "prob2"),
    "never": ("never", "impossible"),
    "possible": ("possible",),
    "position": ("position", "trial"),
    "sitting": ("sitting", "batch", "session"),
}
ANSWER_ONLY_COLUMNS = (
    "top",
    "abstain",
    "none_of_these",
    *ANSWER_COLUMNS["second"],
    *ANSWER_COLUMNS["never"],
    *ANSWER_COLUMNS["possible"],
)


def read_table(
    path: str | Path,
    types: Mapping[str, Kind] | None = None,
    *,
    separator: str | None = None,
    quotes: bool = True,
    sheet: str | None = None,
) -> pl.DataFrame:
    """Return the table in a file as a polars DataFrame; the file name extension selects the format.

    All columns of CSV and TSV are text unless `types` names another type (`str`, `int`, `float` or `bool`) for a column; in the
    other formats columns keep their types. Columns in `types` that the file does not have are ignored. `separator` and
    `quotes` apply to CSV and TSV only, `sheet` to Excel workbooks (default: the first sheet that has a table).
    """
    require_file(path)
    suffix = _require_table_suffix(path, READABLE_TABLE_SUFFIXES).removesuffix(".gz")
    if suffix in (".csv", ".tsv"):
        frame = read_delimited_as_text_columns(path, separator or ("\t" if suffix == ".tsv" else None), quotes=quotes)
    elif suffix in (".jsonl", ".ndjson"):
        frame = frame_from_records(read_json_lines(path), path)
    elif suffix == ".json":
        frame = frame_from_records(read_json(path), path)
    elif suffix == EXCEL_SUFFIX:
        frame = read_excel_sheet(path, sheet)
    else:
        frame = _read_parquet_or_arrow(Path(path), suffix)
    found = {name: kind for name, kind in (types or {}).items() if name in frame.columns}
    return frame.with_columns([cast_column(frame[name], kind, path) for name, kind in found.items()])


def write_table(table: pl.DataFrame | Mapping[str, NDArray[Any] | Sequence[Any]], path: str | Path) -> None:
    """Write a DataFrame or named columns to a file; the file name extension selects the format.

    The write is atomic: an error, Ctrl-C or a full disk leaves the previous file in place.
    """
    suffix = _require_table_suffix(path)
    frame = table if isinstance(table, pl.DataFrame) else frame_of(table, path)
    write = WRITERS[suffix.removesuffix(".gz")]
    try:
        with atomic_file(path) as part, part.open("wb") as file:
            if suffix.endswith(".gz"):  # without name and time: the same table gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as zipped:
                    write(frame, zipped)
            else:
                write(frame, file)
    except pl.exceptions.PolarsError as cause:
        raise InputError(
            f"{path} could not be written: {str(cause).splitlines()[0]}; try another file type, such as .parquet or .jsonl"
        ) from cause


def save_npz_or_write_table(data: DataType, path: str | Path) -> None:
    """Write Votes, SoftLabels, a Fit, ... completely to `.npz`, or their columns to a table, by the file name extension."""
    if file_suffix(path) == ".npz":
        data.save(path)
    else:
        write_table(data.columns(), path)


def _require_table_suffix(path: str | Path, supported: Sequence[str] = TABLE_SUFFIXES) -> str:
    """Return the extension of a table's file name in lower case; raise InputError if it is not one of those `supported`."""
    if (suffix := file_suffix(path)) in supported:
        return suffix
    if suffix in OTHER_SPREADSHEET_SUFFIXES:
        raise InputError(f"unsupported file type {suffix}: {path}; save the spreadsheet as {EXCEL_SUFFIX} or .csv")
    raise InputError(f"unsupported file type {suffix or '(no extension)'}: {path}; use {', '.join(supported)}")


def _read_parquet_or_arrow(file: Path, suffix: str) -> pl.DataFrame:
    """Return the table in a Parquet or Arrow file; raise InputError if it is empty or damaged."""
    try:
        if not file.stat().st_size:
            raise InputError(f"{file} is empty")
        if suffix == ".parquet":
            names = class_names_by_column(features_of_parquet(file))
            frame = pl.read_parquet(file, glob=False)
            return frame.with_columns(decode_class_labels(column, names) for column in frame) if names else frame
        with file.open("rb") as opened:
            begins = opened.read(len(ARROW_MAGIC))
        if begins != ARROW_MAGIC:
            return pl.read_ipc_stream(file.read_bytes())
        with file.open("rb") as opened:  # not by path: polars would read brackets in a name as a pattern
            return pl.read_ipc(opened)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as cause:
        reason = (str(cause).splitlines() or [type(cause).__name__])[0]
        raise InputError(f"{file} is not a valid {suffix} file, or it is incomplete ({reason})") from cause


def frame_from_records(records: Any, path: str | Path) -> pl.DataFrame:
    """Return a list of JSON records as a DataFrame, one column per field; raise InputError if it is not a list of records."""
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path} must contain a list of records such as {{'task': 1, 'label': 'cat'}}")
    names = dict.fromkeys(name for record in records for name in record)
    return frame_of({name: [record.get(name) for record in records] for name in names}, path)


# ---- access to any table by column name


@dataclass(frozen=True)
class Columns:
    """A table whose columns are accessed by name: a DataFrame, a mapping of arrays or a Parquet file."""

    source: Any  # a narwhals frame, a mapping of arrays, or the path of a Parquet file
    names: list[str]
    where: str  # the name of the table in messages
    index: Mapping[str, Any] = field(
        default_factory=dict
    )  # names of rows: level of a pandas index -> values; "" has no name
    name_of_columns: str | None = None  # what pandas says that the column names are, such as "worker" after a pivot
    is_untyped: bool = False  # the columns are those of a CSV or TSV, all text

    @classmethod
    def from_frame_mapping_or_parquet(
        cls, data: Any, where: str = "the table", *, is_untyped: bool = False
    ) -> "Columns":
        """Return Columns of a DataFrame, a mapping {name: values}, a list of records, or the path of a Parquet file.

        The index of a pandas DataFrame is kept beside the columns. So is an unnamed first column, as pandas and R write it to
        files, unless it only numbers the rows; it is not among the columns.
        """
        if isinstance(data, Columns):
            return data
        data = without_blank_rows_at_end(data) if is_untyped and isinstance(data, pl.DataFrame) else data
        found = cls._of_columns_with_names(data, where)
        if not is_unnamed_first_column(found.names):
            return replace(found, is_untyped=is_untyped)
        first, names = found[found.names[0]], found.names[1:]
        index = found.index or ({} if numbers_rows(first) else {"": first})
        return replace(found, names=names, index=index, is_untyped=is_untyped)

    @classmethod
    def _of_columns_with_names(cls, data: Any, where: str) -> "Columns":
        """Return Columns of a table, all of its columns by name, and its pandas index."""
        if isinstance(data, str | Path):
            return cls(*_parquet_path_columns_and_file_name(Path(data)))
        if isinstance(data, Mapping):
            _check_same_lengths(data, where)
            return cls(dict(data), [str(name) for name in data], where)
        if isinstance(data, list | tuple) and data and all(isinstance(one, Mapping) for one in data):
            keys = dict.fromkeys(str(name) for record in data for name in record)
            return cls({name: [record.get(name) for record in data] for name in keys}, list(keys), where)
        if is_pandas_series(data):
            data = series_as_frame(data)
        if isinstance(data, np.ndarray) and data.dtype.names:
            return cls({name: data[name] for name in data.dtype.names}, list(data.dtype.names), where)
        try:
            frame = nw.from_native(data, allow_series=False)
        except TypeError:
            if (
                isinstance(data, list | tuple)
                and data
                and all(isinstance(one, list | tuple | np.ndarray) for one in data)
            ):
                raise InputError(
                    f"a list of {type(data[0]).__name__}s does not say which values are tasks, "
                    f"workers and labels; {HOW_TO_GIVE_ROWS}"
                ) from None
            raise InputError(
                f"{type(data).__name__} is not a table; give a pandas, polars or Arrow frame, or arrays"
            ) from None
        except nw.exceptions.DuplicateError:
            twice = sorted({str(name) for name in data.columns if list(data.columns).count(name) > 1})
            raise InputError(f"{where} has columns of the same name: {twice}; rename them") from None
        if isinstance(frame, nw.LazyFrame):
            frame = frame.collect()
        return cls(frame, [str(name) for name in frame.columns], where, index_levels(data), name_of_columns(data))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> pl.Series:
        if isinstance(self.source, Path):
            return _read_parquet_column(self.source, name)
        if isinstance(self.source, dict):
            return to_series(self.source[name], name)
        native = next(one for one in self.source.columns if str(one) == name)  # pandas may name columns by numbers
        return narwhals_to_polars(self.source.get_column(native), name)

    @property
    def is_in_memory(self) -> bool:
        """Whether the table has no name, because it is not from a file."""
        return self.where == NO_FILE

    def may_hold_names(self, name: str) -> bool:
        """Return whether a column may contain names: its type is not bytes, lists or records, as that of images is."""
        if isinstance(self.source, Path):
            kind: Any = pl.scan_parquet(self.source, glob=False).collect_schema()[name]
        elif isinstance(self.source, dict):
            kind = self.source[name].dtype if isinstance(self.source[name], pl.Series) else None
        else:
            kind = self.source.get_column(next(one for one in self.source.columns if str(one) == name)).dtype
        return kind not in (pl.Binary, nw.Binary) and not (
            kind is not None and hasattr(kind, "is_nested") and kind.is_nested()
        )

    def with_index_as_columns(self, names: Mapping[str, str]) -> "Columns":
        """Return the table with levels of its index as first columns; `names` is {name of a level: name of its column}."""
        columns = {column: to_series(self.index[level], column) for level, column in names.items()}
        for name in self.names:
            if name not in columns:
                order = self.ordered_categories_or_none(name)
                columns[name] = self[name] if order is None else self[name].cast(pl.String).cast(pl.Enum(order))
        return replace(self, source=columns, names=list(columns), index={})

    def has_columns_of_answers(self, label_column: str | None = None) -> bool:
        """Return whether the table contains answers: percentages, second labels, excluded labels, ..., not just votes.

        `label_column` is a further name that the label column may have.
        """
        if not set(ANSWER_ONLY_COLUMNS).isdisjoint(self.names):
            return True
        labelled = label_column in self.names or not set(ANSWER_COLUMNS["top"]).isdisjoint(self.names)
        return labelled and not set(ANSWER_COLUMNS["top_percent"]).isdisjoint(self.names)

    def ordered_categories_or_none(self, column_name: str) -> list[str] | None:
        """Return the categories of a column in their order if its type has them (Enum, ordered categorical), else None."""
        if isinstance(self.source, dict) and isinstance(column := self.source[column_name], pl.Series):
            return column.dtype.categories.to_list() if isinstance(column.dtype, pl.Enum) else None
        if isinstance(self.source, Path | dict):
            return None
        kind = self.source.get_column(next(one for one in self.source.columns if str(one) == column_name)).dtype
        return [str(one) for one in kind.categories] if isinstance(kind, nw.Enum) else None

    def check_has_columns(self, column_name_by_role: Mapping[str, str | None], advice: str | None = None) -> None:
        """Raise InputError if the table lacks a column; `column_name_by_role` maps task, worker, label, ... to column names.

        `advice` says in the error what to do, by default to name the columns.
        """
        absent = [name for name in column_name_by_role.values() if name is not None and name not in self.names]
        if absent:
            roles = [role for role, name in column_name_by_role.items() if name in absent]
            advice = advice or _missing_column_hint(roles, column_name_by_role, is_in_memory=self.is_in_memory)
            raise InputError(f"{_missing_columns_text(self.where, absent, self.names)}; {advice}")


def _check_same_lengths(columns: Mapping[Any, Any], where: str) -> None:
    """Raise InputError if the columns of a mapping have different lengths."""
    sizes = {name: len(values) for name, values in columns.items() if isinstance(values, list | tuple | np.ndarray)}
    if len(set(sizes.values())) > 1:
        (one, n), (other, m) = (
            min(sizes.items(), key=lambda pair: pair[1]),
            max(sizes.items(), key=lambda pair: pair[1]),
        )
        raise InputError(
            f"{where} is a mapping of columns of different lengths: {one!r} has {n or 'no'} and {other!r} {m} values; "
            "give {name of column: values}, a list of records, or votes as {task: {worker: label}}"
        )


def _missing_column_hint(
    missing_roles: list[str], column_name_by_role: Mapping[str, str | None], *, is_in_memory: bool
) -> str:
    """Return the part of an error that says what to do about missing columns; `missing_roles` are the parameters for them."""
    here, there = (
        ", ".join(f"{before}{role}{after}" for role in missing_roles)
        for before, after in (("", "=..."), ("--", " ..."))
    )
    other = "the column has another name" if len(missing_roles) == 1 else "the columns have other names"
    is_of_votes = set(missing_roles) <= {"task", "worker", "label"} <= set(column_name_by_role)
    how = f"pv.votes(table, {here})" if is_in_memory and is_of_votes else f"{here} (on the command line {there})"
    if missing_roles == ["worker", "label"]:
        return (
            f"if every column except {column_name_by_role['task']!r} is a worker, read it as a wide table: "
            f"wide=True (--wide); if {other}, give {how}"
        )
    if len(missing_roles) == 3:
        first_line = "" if is_in_memory else "; the first line of a file must contain the column names"
        return f"if {other}, give {how}; if every column is a worker, wide=True (--wide){first_line}"
    hint = f"if {other}, give {how}"
    return (
        f"{hint}; the first line of the file must contain the column names"
        if len(missing_roles) == len(column_name_by_role) > 1
        else hint
    )


def require_columns(frame: pl.DataFrame, names: Iterable[str], path: str | Path) -> None:
    """Raise InputError if the table does not have all these columns.

    >>> require_columns(pl.DataFrame({"task": [1], "label": [1], "user": [1]}), ["task", "worker"], "votes.csv")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: missing column 'worker' in votes.csv; its columns are ['task', 'label', 'user']
    """
    if absent := [name for name in names if name not in frame.columns]:
        raise InputError(_missing_columns_text(path, absent, frame.columns))


def _missing_columns_text(where: str | Path, absent: list[str], names: list[str]) -> str:
    """Return the message that names the missing columns and those the table has."""
    more = f" and {len(names) - MAX_NAMES_SHOWN} more" if len(names) > MAX_NAMES_SHOWN else ""
    columns = ("column " if len(absent) == 1 else "columns ") + ", ".join(map(repr, absent))
    return f"missing {columns} in {where}; its columns are {names[:MAX_NAMES_SHOWN]}{more}"


def _parquet_path_columns_and_file_name(path: Path) -> tuple[Path, list[str], str]:
    """Return (path, column names, file name) of a Parquet file; raise InputError if it cannot be read."""
    if not path.is_file():
        raise InputError(f"there is no file {path}")
    try:
        return path, pl.scan_parquet(path, glob=False).collect_schema().names(), path.name
    except (pl.exceptions.PolarsError, OSError) as cause:
        raise InputError(f"{path} cannot be read as Parquet; it may be damaged or of another format") from cause


def _read_parquet_column(path: Path, name: str) -> pl.Series:
    """Return one column of a Parquet file; raise InputError if it cannot be read."""
    try:
        column = pl.read_parquet(path, columns=[name], glob=False)[name]
        return decode_class_labels(column, class_names_by_column(features_of_parquet(path)))
    except (pl.exceptions.PolarsError, OSError) as cause:
        raise InputError(f"column {name!r} of {path} cannot be read; the file may be damaged") from cause
