"""Progress bar of a command on stderr: steps, objective, time left if it is known, and a notice while kernels compile.

rich is imported only when a bar is drawn.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from plurivox.core.compilation_callbacks import call_when_compiling
from plurivox.core.progress_callbacks import AtMost, Progress, no_progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress

BAR_DELAY_SECONDS = 0.5  # no bar for shorter work: it would only flicker
COMPILING_LINE_SECONDS = 2.0  # without a terminal, longer compilation is told in a line
COMPILING = "compiling, once"
COMPILING_LINE = "compiling kernels for this computer, once: later runs take them from a cache"


@contextmanager
def progress_bar_while_block_runs(title: str, enabled: bool = True) -> Iterator[Progress]:
    """Yield a progress callback that draws a bar on stderr while the block runs, or does nothing if it is not a terminal.

    If it is not a terminal, one line tells that kernels are compiled, once that has taken `COMPILING_LINE_SECONDS`.
    """
    if not enabled:
        yield no_progress
        return
    if not sys.stderr.isatty():
        with call_when_compiling(CompilationLine()):
            yield no_progress
        return
    bar = ProgressBar(title)
    try:
        with call_when_compiling(bar.show_compilation):
            yield bar
    finally:
        bar.remove_bar()


class CompilationLine:
    """Callback of compilations that prints one line to stderr when they have taken long."""

    def __init__(self) -> None:
        self.began, self.seconds, self.is_printed = 0.0, 0.0, False

    def __call__(self, active: bool) -> None:
        if active:
            self.began = time.monotonic()
        else:
            self.seconds += time.monotonic() - self.began
        if self.seconds > COMPILING_LINE_SECONDS and not self.is_printed:
            self.is_printed = True
            click.echo(COMPILING_LINE, err=True)


class ProgressBar:
    """Progress callback that draws a bar with rich once the work has taken `BAR_DELAY_SECONDS`."""

    def __init__(self, title: str) -> None:
        self.title, self.started = title, time.monotonic()
        self.bar: RichProgress | None = None

    def __call__(self, step: int, total: int, value: float | None = None) -> None:
        self._show(self.title, step + 1, total, "" if value is None else f"{value:.6g}")

    def show_compilation(self, active: bool) -> None:
        """Show that a kernel is being compiled, from the start of a compilation to the next step of the work."""
        if active:
            self._show(f"{self.title}: {COMPILING}")

    def _show(
        self, title: str, completed: int | None = None, total: int | None = None, value: str | None = None
    ) -> None:
        """Draw the bar; what is None stays as it is. No remaining time is shown for `AtMost` some steps: it is not known."""
        if self.bar is None:
            if time.monotonic() - self.started < BAR_DELAY_SECONDS:
                return
            self.bar = start_rich_bar(title)
        task = self.bar.tasks[0]
        if completed is None or total is None:
            self.bar.update(task.id, description=title)
        elif isinstance(total, AtMost):
            task.total = None  # the bar moves to and fro; `update(total=None)` would leave an earlier total
            steps = f"step {completed} of at most {total}"
            self.bar.update(task.id, description=title, completed=completed, steps=steps, value=value, left="")
        else:
            steps = f"{completed}/{total}"
            self.bar.update(
                task.id, description=title, completed=completed, total=total, steps=steps, value=value, left="left"
            )

    def remove_bar(self) -> None:
        """Stop the progress bar and remove it from the terminal."""
        if self.bar is not None:
            self.bar.stop()


def start_rich_bar(title: str) -> "RichProgress":
    """Return a started bar of rich on stderr with one task, whose total is not known yet."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[steps]}"),
        TextColumn("{task.fields[value]}"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}"),
        TimeRemainingColumn(),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=True)
    progress.add_task(title, total=None, steps="", value="", left="")
    progress.start()
    return progress
