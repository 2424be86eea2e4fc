"""A progress bar on a terminal. rich is imported when there is something to show, not before."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from plurivox.core.progress import Watch, quiet

if TYPE_CHECKING:
    from rich.progress import Progress

PATIENCE = 0.5  # seconds of work before a bar appears: shorter work only flickers


@contextmanager
def bar(title: str, wanted: bool = True) -> Iterator[Watch]:
    """A watch that draws a bar on stderr while the block runs; a silent one where stderr is no terminal."""
    if not wanted or not sys.stderr.isatty():
        yield quiet
        return
    drawn = Bar(title)
    try:
        yield drawn
    finally:
        drawn.close()


class Bar:
    """The watch itself; it draws from the first step after `PATIENCE`."""

    def __init__(self, title: str) -> None:
        self.title, self.born = title, time.monotonic()
        self.progress: Progress | None = None

    def __call__(self, step: int, total: int, value: float | None = None) -> None:
        if self.progress is None:
            if time.monotonic() - self.born < PATIENCE:
                return
            self.progress = self._open(total)
        shown = "" if value is None else f"{value:.6g}"
        self.progress.update(self.progress.task_ids[0], completed=step + 1, total=total, value=shown)

    def _open(self, total: int) -> "Progress":
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
        if self.progress is not None:
            self.progress.stop()
