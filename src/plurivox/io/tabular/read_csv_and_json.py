"""Read CSV, TSV, JSON and JSON lines: UTF-8 text with or without a byte order mark, plain or gzipped.

All columns of CSV and TSV are read as text, so that "007" stays "007"; rows with the wrong number of fields are errors.
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

from plurivox.core.array_types import Bools, Ints
from plurivox.core.errors import InputError, first_few

GZIP_MAGIC = b"\x1f\x8b"
UTF8_BOM = b"\xef\xbb\xbf"  # byte order mark that some programs write before UTF-8 text
OTHER_BOMS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
SEPARATORS = ",;\t"
MAX_HEADER_BYTES = 2**20  # the header line must end within this many bytes


def require_file(path: str | Path) -> Path:
    """Return the path if it is a file; raise InputError if it is a folder or does not exist."""
    file = Path(path)
    if file.is_dir():
        raise InputError(f"{path} is a folder; give a file in it")
    if not file.exists():
        raise InputError(f"there is no file {path}")
    return file


def read_text_bytes(path: str | Path) -> bytes:
    """Return the bytes of a text file, decompressed if gzipped and without byte order mark; raise InputError if unreadable."""
    file = require_file(path)
    try:
        data = file.read_bytes()
        if data.startswith(GZIP_MAGIC):
            data = gzip.decompress(data)
    except (gzip.BadGzipFile, EOFError, zlib.error) as cause:
        raise InputError(f"{path} is damaged or incomplete: it cannot be decompressed ({cause})") from cause
    except OSError as cause:
        raise InputError(f"{path} cannot be read ({cause.strerror})") from cause
    for mark, coding in OTHER_BOMS.items():
        if data.startswith(mark):
            raise InputError(f"{path} is {coding} text; save it as UTF-8")
    data = data.removeprefix(UTF8_BOM)
    if not data.strip():
        raise InputError(f"{path} is empty")
    if b"\0" in data:
        raise InputError(f"{path} is damaged or not a text file: it contains zero bytes")
    return data


def decode_utf8(data: bytes, path: str | Path) -> str:
    """Return the bytes of a file as text; raise InputError with the line number if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise InputError(
            f"{path} is not UTF-8 text: byte 0x{data[cause.start]:02x} in line {line}; save it as UTF-8"
        ) from cause


# ---- JSON


def read_json(path: str | Path, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the contents of a JSON file; `object_pairs_hook` builds each object from its (key, value) pairs, default dict."""
    try:
        return json.loads(decode_utf8(read_text_bytes(path), path), object_pairs_hook=object_pairs_hook)
    except (ValueError, RecursionError) as cause:
        if str(cause).startswith("Extra data"):  # a second value after the first
            raise InputError(
                f"{path} contains more than one JSON value; if it has one per line, name it .jsonl ({cause})"
            ) from cause
        raise InputError(f"{path} is not valid JSON, or it is incomplete ({cause})") from cause


def read_json_lines(path: str | Path) -> list[Any]:
    """Return the values of a file with one JSON value per line; blank lines are skipped."""
    lines = decode_utf8(read_text_bytes(path), path).split("\n")
    full = {number: line for number, line in enumerate(lines, 1) if line and not line.isspace()}
    values = _parse_json_lines_together_or_none(list(full.values()))
    return [_parse_json_line(line, number, path) for number, line in full.items()] if values is None else values


def _parse_json_lines_together_or_none(lines: list[str]) -> list[Any] | None:
    """Return the lines parsed together as one JSON list (fast); None if a line is not exactly one JSON value."""
    try:
        values = json.loads(f"[{','.join(lines)}]")
    except (ValueError, RecursionError):
        return None
    return values if len(values) == len(lines) else None


def _parse_json_line(line: str, number: int, path: str | Path) -> Any:
    """Return one line parsed as JSON; raise InputError with the line number if it is not valid."""
    try:
        return json.loads(line)
    except (ValueError, RecursionError) as cause:
        raise InputError(f"{path}, line {number} is not valid JSON, or it is incomplete") from cause


# ---- CSV and TSV


def read_delimited_as_text_columns(
    path: str | Path, separator: str | None = None, *, quotes: bool = True
) -> pl.DataFrame:
    """Return the table in a CSV or TSV file, all columns text; an empty field is missing, a quoted empty field is "".

    Without `separator`, comma, semicolon or tab is detected from the header. `quotes=False` reads quote marks as ordinary
    characters, as some programs write them into TSV.
    """
    data = read_text_bytes(path).lstrip(b"\r\n")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # line ends of old Macs
    head = data[:MAX_HEADER_BYTES].decode(errors="replace")
    mark = separator or _detect_separator(head)
    names = _parse_header(head, mark, quotes, path)
    if any("\ufffd" in name for name in names):
        decode_utf8(data, path)  # polars does not check the header
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(f"duplicate column names in {path}: {first_few(twice)}; rename them")
    try:
        frame = pl.read_csv(data, separator=mark, infer_schema=False, quote_char='"' if quotes else None)
        frame.columns = names  # polars does not unescape doubled quotes in a header
    except pl.exceptions.PolarsError as cause:
        decode_utf8(data, path)
        _find_blank_rows_and_check_field_counts(data, mark, quotes, len(names), path)
        raise InputError(f"{path} cannot be read as a table: {str(cause).splitlines()[0]}") from cause
    if frame.width < 2 or not frame[:, -1].null_count():
        return frame
    # rows with too few fields end in a missing value
    return frame.filter(~_find_blank_rows_and_check_field_counts(data, mark, quotes, len(names), path))


def _detect_separator(header_line: str) -> str:
    """Return the separator (comma, semicolon or tab) used outside quotes in a header line; a comma if ambiguous."""
    line = re.sub(r'"[^"]*"', "", header_line).split("\n", 1)[0]
    found = [mark for mark in SEPARATORS if mark in line]
    return found[0] if len(found) == 1 else ","


def _parse_header(header_line: str, separator: str, quotes: bool, path: str | Path) -> list[str]:
    """Return the column names in the header line."""
    lines = io.StringIO(header_line)
    try:
        if quotes:
            return next(csv.reader(lines, delimiter=separator))
        return next(csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE))
    except csv.Error as cause:
        raise InputError(f"the first line of {path} must contain the column names ({cause})") from cause


def _find_blank_rows_and_check_field_counts(
    data: bytes, separator: str, quotes: bool, n_fields: int, path: str | Path
) -> Bools:
    """Return (n_rows,) whether each row is blank; raise InputError if a row has more or fewer fields than the header."""
    start, fields, blank, closed = _find_row_starts_and_field_counts(data, separator, quotes)
    wrong = np.flatnonzero((fields != n_fields) & ~blank)
    if len(wrong) and closed:
        first = int(wrong[0])
        line = data.count(b"\n", 0, int(start[first])) + 1
        raise InputError(
            f"{path}, line {line} has {fields[first]} fields, but the header has {n_fields} "
            f"({len(wrong)} such rows); correct the row, or quote values that contain the separator"
        )
    if not closed:
        raise InputError(f"{path} has an unclosed quote; close it, or read the file with quotes=False")
    return blank[1:]


def _find_row_starts_and_field_counts(data: bytes, separator: str, quotes: bool) -> tuple[Ints, Ints, Bools, bool]:
    """Return (start byte, number of fields, is blank) of each CSV row with the header, and whether all quotes are closed."""
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
