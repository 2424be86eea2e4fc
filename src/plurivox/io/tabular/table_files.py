"""Tables in files: CSV, TSV, JSON, JSON lines, Parquet and Arrow, read into polars and written whole or not at all."""

import gzip
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
from numpy.typing import NDArray

from plurivox.core.atomic_write import whole_file
from plurivox.core.errors import InputError
from plurivox.io.tabular.csv_files import read_delimited
from plurivox.io.tabular.polars_columns import Kind, cast, frame_of
from plurivox.io.tabular.text_files import must_be_file, read_json, read_json_lines

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
ZIPPED = tuple(f"{ending}.gz" for ending in (".csv", ".tsv", ".jsonl", ".ndjson", ".json"))
ENDINGS = (*WRITERS, *ZIPPED)


def ending_of(path: str | Path) -> str:
    """The ending that says what is in a file, in small letters; "" where it is none of a table.

    >>> ending_of("Votes.CSV.gz"), ending_of("votes.xlsx")
    ('.csv.gz', '')
    """
    name = Path(path).name.lower()
    return next((ending for ending in sorted(ENDINGS, key=len, reverse=True) if name.endswith(ending)), "")


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
        frame = _of_records(read_json_lines(path), path)
    elif ending == ".json":
        frame = _of_records(read_json(path), path)
    else:
        frame = _read_binary(Path(path), ending)
    found = {name: kind for name, kind in (types or {}).items() if name in frame.columns}
    return frame.with_columns([cast(frame[name], kind, path) for name, kind in found.items()])


def write_table(table: pl.DataFrame | Mapping[str, NDArray[Any]], path: str | Path) -> None:
    """Write a frame, or columns as a noun gives them, in the format of the file's ending.

    The file is there whole or not at all: an error, Ctrl-C or a full disk leaves what was there before.
    """
    ending = _known_ending(path)
    frame = table if isinstance(table, pl.DataFrame) else frame_of(table, path)
    write = WRITERS[ending.removesuffix(".gz")]
    if Path(path).is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    try:
        with whole_file(path) as part, part.open("wb") as file:
            if ending.endswith(".gz"):  # no name and no time inside: the same table gives the same bytes
                with gzip.GzipFile(filename="", mode="wb", compresslevel=6, fileobj=file, mtime=0) as zipped:
                    write(frame, zipped)
            else:
                write(frame, file)
    except (OSError, pl.exceptions.PolarsError) as cause:
        raise InputError(f"{path} could not be written: {str(cause).splitlines()[0]}") from cause


def _known_ending(path: str | Path) -> str:
    if ending := ending_of(path):
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


def _of_records(records: Any, path: str | Path) -> pl.DataFrame:
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise InputError(f"{path} must hold a list of records such as {{'task': 1, 'label': 'cat'}}")
    names = dict.fromkeys(name for record in records for name in record)
    return frame_of({name: [record.get(name) for record in records] for name in names}, path)
