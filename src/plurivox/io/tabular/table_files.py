"""Tables in files: CSV, TSV, JSON, JSON lines, Parquet and Arrow, read into polars and written whole or not at all.

Columns keep their kinds on the way between numpy and polars, or the change is an error.
"""

import gzip
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from plurivox.core.atomic_write import whole_file
from plurivox.core.base import Noun
from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, some
from plurivox.core.types import Floats, Names
from plurivox.io.tabular.file_names import ENDINGS, suffix_of
from plurivox.io.tabular.text_files import must_be_file, read_delimited, read_json, read_json_lines

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
Kind = type[str] | type[int] | type[float] | type[bool]
KINDS: dict[Kind, tuple[type[pl.DataType], str]] = {
    str: (pl.String, "text"),
    int: (pl.Int64, "whole numbers"),
    float: (pl.Float64, "numbers"),
    bool: (pl.Boolean, "truth values"),
}
TRUTH = {"true": True, "1": True, "false": False, "0": False}


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
        with whole_file(path) as part, part.open("wb") as file:
            if ending.endswith(".gz"):  # no name and no time inside: the same table gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as zipped:
                    write(frame, zipped)
            else:
                write(frame, file)
    except pl.exceptions.PolarsError as cause:
        raise InputError(f"{path} could not be written: {str(cause).splitlines()[0]}") from cause


def write_saved(made: Noun, path: str | Path) -> None:
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


# ---- columns


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
