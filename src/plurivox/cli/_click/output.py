"""Output of a command: result, tables, notes, JSON."""

import math
import shlex
import warnings
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import click

from plurivox.cli._click.progress_bar import progress_bar_while_block_runs
from plurivox.core.aligned_table_text import aligned_table_text
from plurivox.core.count_text import count_text
from plurivox.core.errors import PlurivoxWarning
from plurivox.core.progress_callbacks import Progress

if TYPE_CHECKING:
    from plurivox.cli._click.standard_streams import StandardStreams

MAX_ROWS_SHOWN, MAX_COLUMNS_SHOWN = 10, 9  # of a table shown without -o


@dataclass(frozen=True)
class CommandResult:
    """Result of a command: `data` for --json, `text` for people, and a closing `summary` line that --quiet omits."""

    data: Mapping[str, Any]
    text: str = ""
    summary: str = ""


@dataclass
class Screen:
    """Output of one command: the result on stdout, notes and progress on stderr.

    If the command writes a table to stdout (`-o -`), the closing line is on stderr too, and the text is not printed.
    """

    json: bool = False
    quiet: bool = False
    argv: tuple[str, ...] = ()  # the command line as typed, without "plurivox"
    notes: list[str] = field(default_factory=list)
    streams: "StandardStreams | None" = None  # the files in place of standard input and output

    @property
    def quoted_command_line(self) -> str:
        """The command line as typed, quoted for a shell."""
        return shlex.join(["plurivox", *self.argv])

    def print_note(self, text: str) -> None:
        """Print a note (what was dropped, merged or assumed) to stderr unless --quiet, and keep it for --json; no repeats."""
        text = text if self.streams is None else self.streams.name_streams_in_message(text)
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            click.echo(f"note: {text}", err=True)

    @contextmanager
    def print_warnings_as_notes_while_block_runs(self) -> Iterator[None]:
        """Context manager: print every PlurivoxWarning raised in the block as a note on stderr."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", PlurivoxWarning)
            show_other = warnings.showwarning

            def show_plurivox_warning_as_note(
                message: Warning | str,
                category: type[Warning],
                filename: str,
                lineno: int,
                file: TextIO | None = None,
                line: str | None = None,
            ) -> None:
                if issubclass(category, PlurivoxWarning):
                    self.print_note(str(message))
                else:
                    show_other(message, category, filename, lineno, file, line)

            warnings.showwarning = show_plurivox_warning_as_note
            yield

    def show_progress_bar_while_block_runs(self, title: str) -> AbstractContextManager[Progress]:
        """Return a context manager that yields a progress callback; it draws a bar if stderr is a terminal and not --quiet."""
        return progress_bar_while_block_runs(title, enabled=not self.quiet)

    def print_result(self, result: CommandResult) -> None:
        """Print the result of a command to stdout, as text or, with --json, as JSON with all notes."""
        text, summary = result.text, "" if self.quiet else result.summary
        document = {**result.data, "notes": self.notes}
        if self.streams is not None:
            text, summary, document = self.streams.name_streams_in_result([text, summary, document])
        if self.json:
            import json

            click.echo(json.dumps(to_json_types(document), indent=2, allow_nan=False))
            return
        writes_to_stdout = self.streams is not None and self.streams.copy_output_to_stdout()
        for part in ("" if writes_to_stdout else text, summary):
            if part:
                click.echo(part, err=writes_to_stdout)


def first_rows_text(columns: Mapping[str, Any], row_name: str, float_format: str = ".4g", *, plural: str = "") -> str:
    """Return the first rows and columns of a table as text, and how many more rows there are; columns are arrays or lists.

    >>> print(first_rows_text({"task": ["a", "b"], "p": [0.25, None]}, "task"))
    task  p
    a     0.25
    b
    """
    shown = {name: column[:MAX_ROWS_SHOWN] for name, column in list(columns.items())[:MAX_COLUMNS_SHOWN]}
    lines = [rows_text(shown, float_format)]
    n_more_rows = len(next(iter(columns.values()), ())) - MAX_ROWS_SHOWN
    if n_more_rows > 0:
        lines.append(
            f"... and {count_text(n_more_rows, f'more {row_name}', plural and f'more {plural}')}; -o FILE writes all"
        )
    return "\n".join(lines)


def rows_text(columns: Mapping[str, Any], float_format: str = ".4g") -> str:
    """Return a table as text; its columns are arrays or lists."""
    cells = [
        [_table_cell_text(value, float_format) for value in (column.tolist() if hasattr(column, "tolist") else column)]
        for column in columns.values()
    ]
    return aligned_table_text([list(columns), *zip(*cells, strict=True)])


def _table_cell_text(value: object, float_format: str) -> str:
    """Return a cell of a table as text; "" for None and NaN."""
    if value is None or value != value:  # NaN is not equal to itself
        return ""
    return format(value, float_format) if isinstance(value, float) else str(value)


def format_name_and_value(name: str, value: object) -> str:
    """Return "name: value" with a formatted number; for a boolean "name" or "not name".

    >>> [format_name_and_value(*pair) for pair in (("ties", 1200), ("converged", False), ("loss", 0.123456789))]
    ['ties: 1,200', 'not converged', 'loss: 0.123457']
    """
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if isinstance(value, int):
        return f"{name}: {value:,}"
    return f"{name}: {value:.6g}" if isinstance(value, float) else f"{name}: {value}"


def to_json_types(value: Any) -> Any:
    """Convert a value to types that JSON has, recursively: arrays as lists, paths as text, NaN and infinity as None.

    >>> to_json_types({"a": (1, float("nan")), 2: "b"})
    {'a': [1, None], '2': 'b'}
    """
    if isinstance(value, Mapping):
        return {str(name): to_json_types(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [to_json_types(entry) for entry in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "tolist"):  # numpy arrays and scalars, without importing numpy
        return to_json_types(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)
