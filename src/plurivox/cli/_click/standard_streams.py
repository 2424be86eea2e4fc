"""`-` for standard input and standard output: temporary files stand for both while a command runs."""

import gzip
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from plurivox.cli._click.parameters import InputName, OutFile
from plurivox.core.errors import InputError, OptionError, PlurivoxError

STREAM = "-"
IN_NAME, OUT_NAME = "stdin", "stdout"  # of the temporary files; data sets are named after their file


@dataclass
class StandardStreams:
    """Temporary files in place of standard input and output: messages and results name the streams, not the files."""

    shown_names: dict[str, str] = field(default_factory=dict)  # path of a temporary file -> its name in messages
    out: Path | None = None  # what the command writes here is copied to standard output at its end

    @cached_property
    def folder(self) -> Path:
        """The folder of the temporary files, created on first use."""
        return Path(tempfile.mkdtemp(prefix="plurivox-"))

    def name_streams_in_message(self, text: str) -> str:
        """Return an error or a note with temporary paths replaced by "standard input" and "standard output"."""
        for path, name in self.shown_names.items():
            text = text.replace(path, name).replace(Path(path).name, name)
        return text

    def name_streams_in_result(self, value: Any) -> Any:
        """Return a text, or a value for JSON, in which the temporary path of an input is replaced by `-`."""
        if isinstance(value, str | Path) and self.shown_names:
            text = str(value)
            for path, name in self.shown_names.items():
                text = text.replace(path, name if path == str(self.out) else STREAM)
            return text
        if isinstance(value, Mapping):
            return {name: self.name_streams_in_result(entry) for name, entry in value.items()}
        return [self.name_streams_in_result(entry) for entry in value] if isinstance(value, list | tuple) else value

    def copy_output_to_stdout(self) -> bool:
        """Copy to standard output what the command wrote in its place; return whether an output is standard output."""
        if self.out is not None and self.out.is_file():
            with self.out.open("rb") as made:
                sys.stdout.flush()
                shutil.copyfileobj(made, sys.stdout.buffer)
                sys.stdout.buffer.flush()
        return self.out is not None


@contextmanager
def standard_streams_while_block_runs(
    params: Sequence[click.Parameter], param_values: dict[str, Any], *, json: bool
) -> Iterator[StandardStreams]:
    """Replace every `-` in `param_values`, in place, by a temporary file, and yield the streams; remove the files at the end.

    An input `-` is standard input, read to its end; an output `-` is standard output. A PlurivoxError raised in the block names
    the streams instead of the files.
    """
    streams = StandardStreams()
    try:
        for param in params:
            if param.name in param_values:
                replace = _replacement_of_stream(param, streams, json=json)
                param_values[param.name] = _map_value_or_values(replace, param_values[param.name])
        yield streams
    except PlurivoxError as cause:
        if (text := streams.name_streams_in_message(str(cause))) == str(cause):
            raise
        raise type(cause)(text) from cause
    finally:
        if "folder" in streams.__dict__:
            shutil.rmtree(streams.folder, ignore_errors=True)


def _map_value_or_values(function: Callable[[Any], Any], value: Any) -> Any:
    """Return `function` of a value, or of each value of an option or argument that may be repeated."""
    return tuple(map(function, value)) if isinstance(value, tuple) else function(value)


def _replacement_of_stream(param: click.Parameter, streams: StandardStreams, *, json: bool) -> Callable[[Any], Any]:
    """Return the function that replaces the value `-` of a parameter by a temporary file; other values stay."""
    if isinstance(param.type, OutFile):
        kind: OutFile = param.type
        return lambda value: _stdout_file(param, kind, streams, json=json) if str(value) == STREAM else value
    if isinstance(param.type, click.Path | InputName):
        return lambda value: _stdin_file_for(value, streams)
    return lambda value: value


# ---- input


def _stdin_file_for(value: Any, streams: StandardStreams) -> Any:
    """Return the value of an input, or a temporary copy of standard input or of a named pipe in its place."""
    is_stdin = str(value) == STREAM
    if not is_stdin and not (isinstance(value, str | Path) and _is_pipe(Path(value))):
        return value
    if is_stdin and "standard input" in streams.shown_names.values():
        raise InputError(
            "- (standard input) is given twice, but can be read only once; use a file for one of the inputs"
        )
    name = "standard input" if is_stdin else str(value)
    path = _copy_stream(None if is_stdin else Path(value), streams.folder / IN_NAME, name)
    streams.shown_names[str(path)] = name
    return path if isinstance(value, Path) else str(path)


def _is_pipe(path: Path) -> bool:
    """Return whether a path is a pipe, such as /dev/stdin in a pipeline or <(command) of a shell."""
    return str(path) == "/dev/stdin" or (path.exists() and path.is_fifo())


def _copy_stream(pipe: Path | None, stem: Path, name: str) -> Path:
    """Copy standard input, or a pipe, to a new file with the extension of its contents; raise InputError if it is empty."""
    from plurivox.io.tabular.file_type_from_content import GZIP_MAGIC, suffix_from_content

    if pipe is None and sys.stdin.isatty():
        raise InputError("- reads standard input, which is a terminal; pipe data into it, such as: ... - < votes.csv")
    handle, raw_name = tempfile.mkstemp(dir=stem.parent)
    raw = Path(raw_name)
    with os.fdopen(handle, "wb") as file:
        if pipe is None:
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with pipe.open("rb") as opened:
                shutil.copyfileobj(opened, file)
    if not raw.stat().st_size:
        raise InputError(f"{name} is empty; pipe a table into it (CSV, TSV, JSON, JSON lines, Parquet) or an .npz file")
    with raw.open("rb") as opened:
        is_gzipped = opened.read(len(GZIP_MAGIC)) == GZIP_MAGIC
    if is_gzipped:
        raw = _decompressed(raw, name)
    own = Path(tempfile.mkdtemp(dir=stem.parent))  # a folder for each pipe, so that all files are called stdin
    return raw.rename(own / f"{stem.name}{suffix_from_content(raw)}")


def _decompressed(path: Path, name: str) -> Path:
    """Decompress a gzipped file to a new file beside it; raise InputError if it is damaged."""
    out = path.with_name(f"{path.name}-decompressed")
    try:
        with gzip.open(path) as zipped, out.open("wb") as file:
            shutil.copyfileobj(zipped, file)
    except (gzip.BadGzipFile, EOFError, zlib.error) as cause:
        raise InputError(f"{name} is damaged or incomplete: it cannot be decompressed ({cause})") from cause
    return out


# ---- output


def _stdout_file(param: click.Parameter, kind: OutFile, streams: StandardStreams, *, json: bool) -> Path:
    """Return the temporary file for an output that is `-`; raise OptionError if it cannot be written to standard output."""
    flag = max(param.opts, key=len) if isinstance(param, click.Option) else param.human_readable_name
    if not kind.stdout_suffix:
        raise OptionError(f"{flag} cannot be written to standard output (-); give the name of a {kind.name}")
    if json:
        raise OptionError(f"--json and {flag} - both write to standard output; leave one of them out")
    if streams.out is not None:
        raise OptionError("two outputs are - (standard output); write one of them to a file")
    streams.out = streams.folder / f"{OUT_NAME}{kind.stdout_suffix}"
    streams.shown_names[str(streams.out)] = "standard output"
    return streams.out
