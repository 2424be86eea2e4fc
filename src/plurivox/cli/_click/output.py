"""Output of a command: result, tables, notes, JSON, progress bar.

rich is imported only when a progress bar is drawn.
"""

import math
import shlex
import sys
import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

import click

from plurivox.core.errors import PlurivoxWarning
from plurivox.core.progress_callbacks import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

BAR_DELAY_SECONDS = 0.5  # no bar for shorter work: it would only flicker


@dataclass(frozen=True)
class CommandResult:
    """Result of a command: `data` for --json, `text` for people, and a closing `summary` line that --quiet omits."""

    data: Mapping[str, Any]
    text: str = ""
    summary: str = ""


@dataclass
class Screen:
    """Output of one command: the result on stdout, notes and progress on stderr."""

    json: bool = False
    quiet: bool = False
    argv: tuple[str, ...] = ()  # the command line as typed, without "plurivox"
    notes: list[str] = field(default_factory=list)

    @property
    def quoted_command_line(self) -> str:
        """The command line as typed, quoted for a shell."""
        return shlex.join(["plurivox", *self.argv])

    def print_note(self, text: str) -> None:
        """Print a note (what was dropped, merged or assumed) to stderr unless --quiet, and keep it for --json; no repeats."""
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
        if self.json:
            import json

            document = {**result.data, "notes": self.notes}
            click.echo(json.dumps(to_json_types(document), indent=2, allow_nan=False))
            return
        for part in (result.text, "" if self.quiet else result.summary):
            if part:
                click.echo(part)


def aligned_table_text(rows: Sequence[Sequence[str]], indent: str = "", gap: str = "  ") -> str:
    """Return rows of text as one text with aligned columns, for a terminal.

    >>> print(aligned_table_text([("tasks", "7"), ("votes per task", "3.00")]))
    tasks           7
    votes per task  3.00
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        indent + gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


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


# ---- a progress bar


@contextmanager
def progress_bar_while_block_runs(title: str, enabled: bool = True) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar on stderr while the block runs, or does nothing if it is not a terminal."""
    if not enabled or not sys.stderr.isatty():
        yield no_progress
        return
    bar = ProgressBar(title)
    try:
        yield bar
    finally:
        bar.remove_bar()


class ProgressBar:
    """Progress callback that draws a bar with rich once the work has taken `BAR_DELAY_SECONDS`."""

    def __init__(self, title: str) -> None:
        self.title, self.started = title, time.monotonic()
        self.bar: RichProgress | None = None

    def __call__(self, step: int, total: int, value: float | None = None) -> None:
        if self.bar is None:
            if time.monotonic() - self.started < BAR_DELAY_SECONDS:
                return
            self.bar = self._start_rich_bar(total)
        value_text = "" if value is None else f"{value:.6g}"
        self.bar.update(self.bar.task_ids[0], completed=step + 1, total=total, value=value_text)

    def _start_rich_bar(self, total: int) -> "RichProgress":
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[value]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        progress = Progress(*columns, console=Console(stderr=True), transient=True)
        progress.add_task(self.title, total=total, value="")
        progress.start()
        return progress

    def remove_bar(self) -> None:
        """Stop the progress bar and remove it from the terminal."""
        if self.bar is not None:
            self.bar.stop()
