"""Text files of data, plain or gzipped, UTF-8 with or without a byte order mark: CSV, TSV, JSON and JSON lines.

Every column of CSV and TSV is text, so that "007" stays "007", and rows of the wrong length are found.
"""

import csv
import gzip
import io
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from plurivox.core.errors import InputError, first_few
from plurivox.core.types import Bools, Ints

GZIP = b"\x1f\x8b"
MARK = b"\xef\xbb\xbf"  # what some programs put before UTF-8 text
OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
SEPARATORS = ",;\t"
HEAD = 2**20  # bytes in which the header line must end


def must_be_file(path: str | Path) -> Path:
    """The path, once it is certain that a file is there."""
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a folder; name a file in it")
    if not file.exists():
        raise InputError(f"there is no file {path}")
    return file


def read_bytes(path: str | Path) -> bytes:
    """The bytes of a text file, unzipped (whatever its name says) and without a byte order mark."""
    file = must_be_file(path)
    try:
        data = file.read_bytes()
        if data.startswith(GZIP):
            data = gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as cause:
        raise InputError(f"{path} is damaged or cut short: it does not unzip ({cause})") from cause
    except OSError as cause:
        raise InputError(f"{path} cannot be read ({cause.strerror})") from cause
    for mark, coding in OTHER_MARKS.items():
        if data.startswith(mark):
            raise InputError(f"{path} is {coding} text; save it as UTF-8")
    data = data.removeprefix(MARK)
    if not data.strip():
        raise InputError(f"{path} is empty")
    if b"\0" in data:
        raise InputError(f"{path} is damaged or not a text file: it has zero bytes")
    return data


def decode(data: bytes, path: str | Path) -> str:
    """The bytes as text."""
    try:
        return data.decode()
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise InputError(
            f"{path} is not UTF-8 text: byte 0x{data[cause.start]:02x} in line {line}; save it as UTF-8"
        ) from cause


# ---- JSON


def read_json(path: str | Path, pairs: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value a JSON file holds; `pairs` may make something else than a dict of each object."""
    try:
        return json.loads(decode(read_bytes(path), path), object_pairs_hook=pairs)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path} is not JSON, or it is cut short ({cause})") from cause


def read_json_lines(path: str | Path) -> list[Any]:
    """The values of a file with one JSON value a line; blank lines are skipped."""
    lines = decode(read_bytes(path), path).split("\n")
    full = {number: line for number, line in enumerate(lines, 1) if line and not line.isspace()}
    values = _parse_at_once(list(full.values()))
    return [_parse_line(line, number, path) for number, line in full.items()] if values is None else values


def _parse_at_once(lines: list[str]) -> list[Any] | None:
    """The lines as one JSON list, three times faster than one by one; None where some line is not one value."""
    try:
        values = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        return None
    return values if len(values) == len(lines) else None


def _parse_line(line: str, number: int, path: str | Path) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path}, line {number} is not JSON, or it is cut short") from cause


# ---- CSV and TSV


def read_delimited(path: str | Path, separator: str | None = None, *, quotes: bool = True) -> pl.DataFrame:
    """The table in a CSV or TSV file, all columns text; an empty field is missing, a quoted empty one is "".

    Without a separator the header decides between comma, semicolon and tab. `quotes=False` takes quote marks as plain
    characters, as some programs write them into TSV.
    """
    data = read_bytes(path).lstrip(b"\r\n")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # line ends of old Macs
    head = data[:HEAD].decode(errors="replace")
    mark = separator or _plain_separator(head)
    names = _header(head, mark, quotes, path)
    if any("\ufffd" in name for name in names):
        decode(data, path)  # polars would let a broken header pass
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"{path} names columns twice: {first_few(twice)}")
    try:
        frame = pl.read_csv(data, separator=mark, infer_schema=False, quote_char='"' if quotes else None)
        frame.columns = names  # polars leaves doubled quotes in a header as they are
    except pl.exceptions.PolarsError as cause:
        decode(data, path)
        _check_lengths(data, mark, quotes, len(names), path)
        raise InputError(f"{path} cannot be read as a table: {str(cause).splitlines()[0]}") from cause
    if frame.width < 2 or not frame[:, -1].null_count():
        return frame
    return frame.filter(~_check_lengths(data, mark, quotes, len(names), path))  # short rows end in a missing value


def _plain_separator(head: str) -> str:
    """The one separator that the header line has outside quotes; a comma where that is not plain."""
    line = re.sub(r'"[^"]*"', "", head).split("\n", 1)[0]
    found = [mark for mark in SEPARATORS if mark in line]
    return found[0] if len(found) == 1 else ","


def _header(head: str, separator: str, quotes: bool, path: str | Path) -> list[str]:
    lines = io.StringIO(head)
    try:
        if quotes:
            return next(csv.reader(lines, delimiter=separator))
        return next(csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE))
    except csv.Error as cause:
        raise InputError(f"{path} does not begin with a line of column names ({cause})") from cause


def _check_lengths(data: bytes, separator: str, quotes: bool, width: int, path: str | Path) -> Bools:
    """(n_rows,) which rows are blank lines; a row with more or fewer fields than the header is an error."""
    start, fields, blank, closed = _rows(data, separator, quotes)
    wrong = np.flatnonzero((fields != width) & ~blank)
    if len(wrong) and closed:
        first = int(wrong[0])
        line = data.count(b"\n", 0, int(start[first])) + 1
        raise InputError(
            f"{path}, line {line} has {fields[first]} fields and the header has {width} "
            f"({len(wrong)} such rows); mend the row, or quote a value that holds a separator"
        )
    if not closed:
        raise InputError(f"{path} has a quote that is never closed; mend it, or read the file with quotes=False")
    return blank[1:]


def _rows(data: bytes, separator: str, quotes: bool) -> tuple[Ints, Ints, Bools, bool]:
    """Of each row, the header included: where it starts, how many fields, blank or not; and: do all quotes close."""
    byte = np.frombuffer(data, np.uint8)
    outside = np.ones(len(byte), bool)
    if quotes:
        outside = np.bitwise_xor.accumulate(byte == ord('"'), dtype=bool)
        np.logical_not(outside, out=outside)
    end = np.flatnonzero((byte == ord("\n")) & outside)
    if not len(end) or end[-1] != len(byte) - 1:
        end = np.append(end, len(byte))
    start = np.concatenate([[0], end[:-1] + 1])
    mark = np.flatnonzero((byte == ord(separator)) & outside)
    fields = np.searchsorted(mark, end) - np.searchsorted(mark, start) + 1
    size = end - start
    blank = (size == 0) | ((size == 1) & (byte[np.minimum(start, len(byte) - 1)] == ord("\r")))
    return start, fields, blank, bool(outside[-1])
