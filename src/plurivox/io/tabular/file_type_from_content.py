"""File type of data without a file name, such as standard input: recognised by its first bytes. Does not import polars."""

import json
import zipfile
from pathlib import Path
from typing import Any

GZIP_MAGIC = b"\x1f\x8b"
MAGIC_SUFFIXES = {  # first bytes -> file name extension
    b"PAR1": ".parquet",
    b"ARROW1": ".arrow",
    b"\xff\xff\xff\xff": ".arrow",  # a stream, which has no magic bytes
    b"\x93NUMPY": ".npy",
}
ZIP_MAGIC = b"PK\x03\x04"
UTF8_BOM = b"\xef\xbb\xbf"
MAX_FIRST_LINE_BYTES = 2**24  # a longer first line is taken as a JSON document without line breaks


def suffix_from_content(file: Path) -> str:
    """Return the file name extension that suits the contents of a file: .parquet, .npz, .xlsx, .jsonl, .json or .csv.

    Text that is not JSON is `.csv`, whose reader finds the separator (comma, semicolon or tab).
    """
    with file.open("rb") as opened:
        first = opened.readline(MAX_FIRST_LINE_BYTES).removeprefix(UTF8_BOM)
        while first and not first.strip():
            first = opened.readline(MAX_FIRST_LINE_BYTES)
        is_one_line = not opened.read(2**16).strip()
    if first.startswith(ZIP_MAGIC):
        return _suffix_of_zip(file)
    for magic, suffix in MAGIC_SUFFIXES.items():
        if first.startswith(magic):
            return suffix
    return _suffix_of_json(first, is_one_line) if first.lstrip()[:1] in (b"[", b"{") else ".csv"


def _suffix_of_zip(file: Path) -> str:
    """Return .xlsx for an Excel workbook, else .npz."""
    if not zipfile.is_zipfile(file):
        return ".npz"
    with zipfile.ZipFile(file) as archive:
        return ".xlsx" if "xl/workbook.xml" in archive.namelist() else ".npz"


def _suffix_of_json(first_line: bytes, is_one_line: bool) -> str:
    """Return .jsonl if the first line is a record, .json if it is the start of a JSON document or a whole one."""
    try:
        record: Any = json.loads(first_line)
    except ValueError:
        return ".json"  # a document over several lines
    if not isinstance(record, dict):
        return ".json"
    if not is_one_line:
        return ".jsonl"
    # one object on one line is a document if all its values are objects, as in {"task": {"worker": "label"}}
    return ".json" if record and all(isinstance(value, dict) for value in record.values()) else ".jsonl"
