"""What a person or a machine gets to see: answers, tables, notes, JSON, a progress bar.

rich is imported when there is a bar to draw, not before.
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
from plurivox.core.progress import Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

PATIENCE = 0.5  # seconds of work before a bar appears: shorter work only flickers


@dataclass(frozen=True)
class Answer:
    """What a command found: `facts` for machines, `text` for people, and a closing `line` that --quiet leaves out."""

    facts: Mapping[str, Any]
    text: str = ""
    line: str = ""


@dataclass
class Screen:
    """Where one command speaks: answers on stdout, notes and progress on stderr."""

    json: bool = False
    quiet: bool = False
    words: tuple[str, ...] = ()  # the command line as typed
    notes: list[str] = field(default_factory=list)

    @property
    def command(self) -> str:
        """The command line that can be typed again."""
        return shlex.join(["plurivox", *self.words])

    def note(self, text: str) -> None:
        """Tell what was dropped, merged or guessed, once."""
        if text in self.notes:
            return
        self.notes.append(text)
        if not self.quiet:
            click.echo(f"note: {text}", err=True)

    @contextmanager
    def hearing(self) -> Iterator[None]:
        """Turn every PlurivoxWarning into a note."""
        with warnings.catch_warnings():
            warnings.simplefilter("always", PlurivoxWarning)
            others = warnings.showwarning

            def show(
                message: Warning | str,
                category: type[Warning],
                filename: str,
                lineno: int,
                file: TextIO | None = None,
                line: str | None = None,
            ) -> None:
                if issubclass(category, PlurivoxWarning):
                    self.note(str(message))
                else:
                    others(message, category, filename, lineno, file, line)

            warnings.showwarning = show
            yield

    def progress(self, title: str) -> AbstractContextManager[Progress]:
        """A bar for work that takes a while, on a terminal only."""
        return bar(title, wanted=not self.quiet)

    def show(self, answer: Answer) -> None:
        """Write the answer to stdout."""
        if self.json:
            import json

            document = {**answer.facts, "notes": self.notes}
            click.echo(json.dumps(plain(document), indent=2, allow_nan=False))
            return
        for part in (answer.text, "" if self.quiet else answer.line):
            if part:
                click.echo(part)


def table(rows: Sequence[Sequence[str]], indent: str = "", gap: str = "  ") -> str:
    """Rows of words in aligned columns; the last column is left as long as it is.

    >>> print(table([("tasks", "7"), ("votes per task", "3.00")]))
    tasks           7
    votes per task  3.00
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        indent + gap.join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def phrase(name: str, value: object) -> str:
    """A fact in words.

    >>> phrase("ties", 1200), phrase("converged", False), phrase("loss", 0.123456789)
    ('ties: 1,200', 'not converged', 'loss: 0.123457')
    """
    if isinstance(value, bool):
        return name if value else f"not {name}"
    if isinstance(value, int):
        return f"{name}: {value:,}"
    return f"{name}: {value:.6g}" if isinstance(value, float) else f"{name}: {value}"


def plain(value: Any) -> Any:
    """A value as JSON knows it: arrays as lists, paths as text, what is no number as null.

    >>> plain({"a": (1, float("nan")), 2: "b"})
    {'a': [1, None], '2': 'b'}
    """
    if isinstance(value, Mapping):
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in (sorted(value) if isinstance(value, set | frozenset) else value)]
    if hasattr(value, "tolist"):  # numpy arrays and scalars, without importing numpy
        return plain(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, str | bool | int) else str(value)


# ---- a progress bar


@contextmanager
def bar(title: str, wanted: bool = True) -> Iterator[Progress]:
    """A progress callback that draws a bar on stderr while the block runs; `no_progress` where stderr is not a terminal."""
    if not wanted or not sys.stderr.isatty():
        yield no_progress
        return
    drawn = Bar(title)
    try:
        yield drawn
    finally:
        drawn.close()


class Bar:
    """Progress callback that draws a bar with rich once the work has taken `PATIENCE` seconds."""

    def __init__(self, title: str) -> None:
        self.title, self.born = title, time.monotonic()
        self.drawn: RichProgress | None = None

    def __call__(self, step: int, total: int, value: float | None = None) -> None:
        if self.drawn is None:
            if time.monotonic() - self.born < PATIENCE:
                return
            self.drawn = self._open(total)
        shown = "" if value is None else f"{value:.6g}"
        self.drawn.update(self.drawn.task_ids[0], completed=step + 1, total=total, value=shown)

    def _open(self, total: int) -> "RichProgress":
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

    def close(self) -> None:
        """Take the bar off the screen."""
        if self.drawn is not None:
            self.drawn.stop()
