"""CSV and TSV: every column as text, so that "007" stays "007", and rows of the wrong length are found."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import polars as pl

from plurivox.core.errors import InputError, some
from plurivox.core.types import Bools, Ints
from plurivox.io.tabular.text_files import decode, read_bytes

SEPARATORS = ",;\t"
HEAD = 2**20  # bytes in which the header line must end


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
        raise InputError(f"{path} names columns twice: {some(twice)}")
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
