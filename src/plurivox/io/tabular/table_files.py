"""Tables: read from files (CSV, TSV, JSON, JSON lines, Parquet, Arrow), written whole or not at all, seen as columns."""

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import polars as pl
from numpy.typing import NDArray

from plurivox.core.atomic_write import atomic_file
from plurivox.core.base import DataType
from plurivox.core.errors import InputError
from plurivox.io.tabular.column_values import Kind, cast, frame_of, series, series_of_narwhals
from plurivox.io.tabular.file_names import ENDINGS, suffix_of
from plurivox.io.tabular.text_files import must_be_file, read_delimited, read_json, read_json_lines

SHOWN = 12  # column names in a message
ARROW_FILE = b"ARROW1"  # what an Arrow file begins with; a stream does not

Write = Callable[[pl.DataFrame, Any], object]  # a frame and an open file of bytes
WRITERS: dict[str, Write] = {
    ".csv": lambda frame, file: frame.write_csv(file),
    ".tsv": lambda frame, file: frame.write_csv(file, separator="\t"),
    ".jsonl": lambda frame, file: frame.write_ndjson(file),
    ".ndjson": lambda frame, file: frame.write_ndjson(file),
    ".json": lambda frame, file: file.write(frame.write_json().encode()),
    ".parquet": lambda frame, file: frame.write_parquet(file),
    ".arrow": lambda frame, file: frame.write_ipc(file),
    ".feather": lambda frame, file: frame.write_ipc(file),
}
# what a column of answers may be called; the first name is the one we write
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
MORE_THAN_VOTES = (
    "top",
    "abstain",
    "none_of_these",
    *ANSWER_COLUMNS["second"],
    *ANSWER_COLUMNS["never"],
    *ANSWER_COLUMNS["possible"],
)


def read_table(
    path: str | Path, types: Mapping[str, Kind] | None = None, *, separator: str | None = None, quotes: bool = True
) -> pl.DataFrame:
    """The table in a file, by its ending.

    CSV and TSV hold text alone, so all their columns are text unless `types` names another kind (`str`, `int`, `float`
    or `bool`) for a column; the other formats keep the kinds they have. Columns in `types` that the file lacks are
    passed over. `separator` and `quotes` are for CSV and TSV alone.
    """
    must_be_file(path)
    ending = _known_ending(path).removesuffix(".gz")
    if ending in (".csv", ".tsv"):
        frame = read_delimited(path, separator or ("\t" if ending == ".tsv" else None), quotes=quotes)
    elif ending in (".jsonl", ".ndjson"):
        frame = frame_of_records(read_json_lines(path), path)
    elif ending == ".json":
        frame = frame_of_records(read_json(path), path)
    else:
        frame = _read_binary(Path(path), ending)
    found = {name: kind for name, kind in (types or {}).items() if name in frame.columns}
    return frame.with_columns([cast(frame[name], kind, path) for name, kind in found.items()])


def write_table(table: pl.DataFrame | Mapping[str, NDArray[Any] | Sequence[Any]], path: str | Path) -> None:
    """Write a frame, or columns as a noun gives them, in the format of the file's ending.

    The file is there whole or not at all: an error, Ctrl-C or a full disk leaves what was there before.
    """
    ending = _known_ending(path)
    frame = table if isinstance(table, pl.DataFrame) else frame_of(table, path)
    write = WRITERS[ending.removesuffix(".gz")]
    try:
        with atomic_file(path) as part, part.open("wb") as file:
            if ending.endswith(".gz"):  # no name and no time inside: the same table gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as zipped:
                    write(frame, zipped)
            else:
                write(frame, file)
    except pl.exceptions.PolarsError as cause:
        raise InputError(f"{path} could not be written: {str(cause).splitlines()[0]}") from cause


def write_saved(made: DataType, path: str | Path) -> None:
    """Write a data type as `.npz`, which keeps all of it, or else its table."""
    if suffix_of(path) == ".npz":
        made.save(path)
    else:
        write_table(made.columns(), path)


def _known_ending(path: str | Path) -> str:
    if (ending := suffix_of(path)) in ENDINGS:
        return ending
    raise InputError(f"{path} has no ending of a table; known are {', '.join(ENDINGS)}")


def _read_binary(file: Path, ending: str) -> pl.DataFrame:
    try:
        if not file.stat().st_size:
            raise InputError(f"{file} is empty")
        if ending == ".parquet":
            return pl.read_parquet(file, glob=False)
        with file.open("rb") as opened:
            begins = opened.read(len(ARROW_FILE))
        if begins != ARROW_FILE:
            return pl.read_ipc_stream(file.read_bytes())
        with file.open("rb") as opened:  # opened, not by its path: polars would take brackets in a name as a pattern
            return pl.read_ipc(opened)
    except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as cause:
        words = (str(cause).splitlines() or [type(cause).__name__])[0]
        raise InputError(f"{file} is no {ending[1:]} file, or it is damaged or cut short ({words})") from cause


def frame_of_records(records: Any, path: str | Path) -> pl.DataFrame:
    """A frame of what a JSON file holds: a list of records, a column for each of their names."""
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path} must hold a list of records such as {{'task': 1, 'label': 'cat'}}")
    names = dict.fromkeys(name for record in records for name in record)
    return frame_of({name: [record.get(name) for record in records] for name in names}, path)


# ---- any table as columns


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
        return series_of_narwhals(self.source.get_column(native), name)

    def hold_answers(self, label: str | None = None) -> bool:
        """Whether a percent stands beside the label, or a second label, labels ruled out, ...: more than plain votes.

        `label` is a further name that the column of the label may have.
        """
        if not set(MORE_THAN_VOTES).isdisjoint(self.names):
            return True
        labelled = label in self.names or not set(ANSWER_COLUMNS["top"]).isdisjoint(self.names)
        return labelled and not set(ANSWER_COLUMNS["top_percent"]).isdisjoint(self.names)

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
            raise InputError(f"{_lacks(self.where, lacking, self.names)}; {_way_out(roles, wanted)}")


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


def require_columns(frame: pl.DataFrame, names: Iterable[str], path: str | Path) -> None:
    """Say which columns a table lacks, and which it has.

    >>> require_columns(pl.DataFrame({"task": [1], "label": [1], "user": [1]}), ["task", "worker"], "votes.csv")
    Traceback (most recent call last):
    plurivox.core.errors.InputError: votes.csv lacks columns ['worker']; it has ['task', 'label', 'user']
    """
    if absent := [name for name in names if name not in frame.columns]:
        raise InputError(_lacks(path, absent, frame.columns))


def _lacks(where: str | Path, absent: list[str], names: list[str]) -> str:
    """Which columns are not there, and which are."""
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{where} lacks columns {absent}; it has {names[:SHOWN]}{more}"


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
