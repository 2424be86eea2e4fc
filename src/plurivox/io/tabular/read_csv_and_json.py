"""Read CSV, TSV, JSON and JSON lines: UTF-8 text, UTF-16 with a byte order mark, or Windows-1252, plain or gzipped.

All columns of CSV and TSV are read as text, so that "007" stays "007". What spreadsheets add or leave out is allowed: columns
without name and value, blanks around column names, rows without their last, empty fields. Longer rows are errors.
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
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, first_few, warn_user
from plurivox.io.tabular.title_rows import rows_above_column_names

GZIP_MAGIC = b"\x1f\x8b"
CONTROL_BYTES = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")  # not in text
UTF8_BOM = b"\xef\xbb\xbf"  # byte order mark that some programs write before UTF-8 text
OTHER_BOMS = {  # as Excel writes "Unicode text"
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
SEPARATORS = ",;\t|"
SEPARATOR_LINE = re.compile(rb'"?sep=(.)"?\r?\n', re.IGNORECASE)  # a first line that tells Excel the separator
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
    data = _as_utf8_without_byte_order_mark(data, path)
    if not data.strip():
        raise InputError(f"{path} is empty")
    if b"\0" in data:
        raise InputError(f"{path} is damaged or not a text file: it contains zero bytes")
    return data


def _as_utf8_without_byte_order_mark(data: bytes, path: str | Path) -> bytes:
    """Return UTF-8 text unchanged, UTF-16, UTF-32 and Windows-1252 text as UTF-8, with a warning for Windows-1252."""
    for mark, coding in OTHER_BOMS.items():
        if data.startswith(mark):
            return _reencoded_as_utf8(data, coding, path)
    if data.startswith(UTF8_BOM):
        return data.removeprefix(UTF8_BOM)
    if (text := _windows_1252_text_or_none(data)) is None:
        return data
    warn_user(
        f"{path} is not UTF-8 text; read as Windows-1252, as Excel writes CSV in western Europe: check names with accents"
    )
    return text.encode()


def _windows_1252_text_or_none(data: bytes) -> str | None:
    """Return bytes that are not UTF-8 as Windows-1252 text; None for UTF-8, for damaged UTF-8, and for other bytes.

    Text that has a whole UTF-8 sequence of several bytes beside the invalid ones is UTF-8 that is damaged.
    """
    if data.isascii():
        return None
    try:
        data.decode()
    except UnicodeDecodeError:
        invalid_as_mark = data.decode(errors="replace").replace("\ufffd", "")
        if not invalid_as_mark.isascii() or CONTROL_BYTES.search(data):
            return None
        try:
            return data.decode("cp1252")
        except UnicodeDecodeError:
            return None
    return None


def _reencoded_as_utf8(data: bytes, coding: str, path: str | Path) -> bytes:
    """Return UTF-16 or UTF-32 text with a byte order mark as UTF-8; raise InputError if it is damaged."""
    try:
        return data.decode(coding).encode()
    except UnicodeError as cause:
        raise InputError(f"{path} begins as {coding} text but is damaged or incomplete; save it as UTF-8") from cause


def decode_utf8(data: bytes, path: str | Path) -> str:
    """Return the bytes of a file as text; raise InputError with the line number if they are not UTF-8."""
    try:
        return data.decode()
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        raise InputError(
            f"{path} is not UTF-8 text: byte 0x{data[cause.start]:02x} in line {line}; save it as UTF-8 (in Excel: "
            "'CSV UTF-8'; a file of older programs: iconv -f WINDOWS-1252 -t UTF-8 OLD > NEW)"
        ) from cause


# ---- JSON


def read_json(path: str | Path, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """Return the contents of a JSON file, or the list of its values if it is JSON lines: an object or list per line.

    `object_pairs_hook` builds each object from its (key, value) pairs, default dict.
    """
    text = decode_utf8(read_text_bytes(path), path)
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except (ValueError, RecursionError) as cause:
        if str(cause).startswith("Extra data"):  # a second value after the first
            lines = [line for line in text.split("\n") if line and not line.isspace()]
            records = _parse_json_lines_together_or_none(lines, object_pairs_hook)
            if records is not None and all(line.lstrip().startswith(("{", "[")) for line in lines):
                return records
            raise InputError(
                f"{path} contains more than one JSON value, and not one object per line as JSON lines ({cause})"
            ) from cause
        raise InputError(f"{path} is not valid JSON, or it is incomplete ({cause})") from cause


def read_json_lines(path: str | Path) -> list[Any]:
    """Return the values of a file with one JSON value per line; blank lines are skipped."""
    lines = decode_utf8(read_text_bytes(path), path).split("\n")
    full = {number: line for number, line in enumerate(lines, 1) if line and not line.isspace()}
    values = _parse_json_lines_together_or_none(list(full.values()))
    return [_parse_json_line(line, number, path) for number, line in full.items()] if values is None else values


def _parse_json_lines_together_or_none(
    lines: list[str], object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None
) -> list[Any] | None:
    """Return the lines parsed together as one JSON list (fast); None if a line is not exactly one JSON value."""
    try:
        values = json.loads(f"[{','.join(lines)}]", object_pairs_hook=object_pairs_hook)
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

    Without `separator`, comma, semicolon, tab or `|` is detected from the header. `quotes=False` reads quote marks as ordinary
    characters, as some programs write them into TSV. Columns that have neither a name nor a value are left out. Warn about rows
    that end before the last column: their last fields are missing.
    """
    data = read_text_bytes(path).lstrip(b"\r\n")
    if (line := SEPARATOR_LINE.match(data)) is not None:
        data, separator = data[line.end() :], separator or line[1].decode(errors="replace")
    if b"\n" not in data:
        data = data.replace(b"\r", b"\n")  # line ends of old Macs
    head = data[:MAX_HEADER_BYTES].decode(errors="replace")
    mark = separator or _detect_separator(head)
    if quotes and (above := rows_above_column_names(head, mark)):
        data, head = data.split(b"\n", len(above))[-1], head.removeprefix("".join(above))
        warn_user(f"{path}: {count_text(len(above), 'row')} above the column names skipped")
    # blanks are part of the labels in columns `p:<label>`
    names = [name if name.startswith("p:") else name.strip() for name in _parse_header(head, mark, quotes, path)]
    if any("\ufffd" in name for name in names):
        decode_utf8(data, path)  # polars does not check the header
    if twice := sorted({name for name in names if name and names.count(name) > 1}):
        raise InputError(f"duplicate column names in {path}: {first_few(twice)}; rename them")
    try:
        frame = pl.read_csv(data, separator=mark, infer_schema=False, quote_char='"' if quotes else None)
        frame.columns = _with_unique_names(names)  # polars does not unescape doubled quotes in a header
    except pl.exceptions.PolarsError as cause:
        decode_utf8(data, path)
        _find_blank_rows_and_check_field_counts(data, mark, quotes, names, path)
        raise InputError(f"{path} cannot be read as a table: {str(cause).splitlines()[0]}") from cause
    if frame.width < 2 or not frame[:, -1].null_count():
        return frame
    # rows with too few fields end in a missing value
    frame = frame.filter(~_find_blank_rows_and_check_field_counts(data, mark, quotes, names, path))
    return _without_nameless_empty_columns(frame, names)


def _with_unique_names(names: list[str]) -> list[str]:
    """Return column names in which those after the first that are empty are called `Unnamed: <number>`, as in pandas."""
    return [name or ("" if place == 0 else f"Unnamed: {place}") for place, name in enumerate(names)]


def without_blank_rows_at_end(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the table without the rows at its end that have no value, as spreadsheets write them."""
    filled = frame.select(~pl.all_horizontal(pl.all().is_null())).to_series().arg_true()
    return frame.head(0 if filled.is_empty() else int(filled[-1]) + 1)


def _without_nameless_empty_columns(frame: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Return the table without columns that have neither a name nor a value."""
    empty = [
        column.name
        for column, name in zip(frame, names, strict=True)
        if not name and column.null_count() == len(column)
    ]
    return frame.drop(empty)


def _detect_separator(header_line: str) -> str:
    """Return the separator (comma, semicolon, tab or `|`) used outside quotes in a header line.

    If there are several, it is the one that occurs as often in the next line; a comma if that is ambiguous.
    """
    first, second = [*re.sub(r'"[^"]*"', "", header_line).split("\n", 2), ""][:2]
    found = [mark for mark in SEPARATORS if mark in first]
    if len(found) > 1:
        found = [mark for mark in found if first.count(mark) == second.count(mark)]
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
    data: bytes, separator: str, quotes: bool, names: list[str], path: str | Path
) -> Bools:
    """Return (n_rows,) whether each row is blank; warn about rows with fewer fields than the header.

    Raise InputError for a row with more fields, and for a short last row without line end: the file is cut off.
    """
    start, fields, blank, closed = _find_row_starts_and_field_counts(data, separator, quotes)
    if not closed:
        raise InputError(f"{path} has an unclosed quote; close it, or read the file with quotes=False")
    n_named = max((place for place, name in enumerate(names, 1) if name), default=len(names))
    short = (fields < n_named) & ~blank
    is_cut_off = bool(short[-1]) and not data.endswith(b"\n")
    wrong = np.flatnonzero((fields > len(names)) & ~blank) if not is_cut_off else np.array([len(fields) - 1])
    lines = [data.count(b"\n", 0, int(start[row])) + 1 for row in (wrong if len(wrong) else np.flatnonzero(short))[:3]]
    if len(wrong):
        advice = (
            "the file may be cut off" if is_cut_off else "correct the row, or quote values that contain the separator"
        )
        raise InputError(
            f"{path}, line {lines[0]} has {fields[wrong[0]]} fields, but the header has {len(names)} "
            f"({count_text(len(wrong), 'such row')}); {advice}"
        )
    if short.any():
        n = int(short.sum())
        warn_user(
            f"{path}: {count_text(n, 'row')} ({'line' if n == 1 else 'lines'} "
            f"{first_few(lines) if n <= 3 else f'{lines[0]}, ...'}) "
            f"{'has' if n == 1 else 'have'} fewer fields than the header; the last fields are read as missing"
        )
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
