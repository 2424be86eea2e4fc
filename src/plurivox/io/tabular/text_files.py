"""Text files of data: plain or gzipped, UTF-8 with or without a byte order mark, and JSON in them."""

import gzip
import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from plurivox.core.errors import InputError

GZIP = b"\x1f\x8b"
MARK = b"\xef\xbb\xbf"  # what some programs put before UTF-8 text
OTHER_MARKS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}


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
