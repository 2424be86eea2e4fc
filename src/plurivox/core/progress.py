"""Progress callbacks of long computations: a function called after every step."""

from typing import Protocol


class Progress(Protocol):
    """Type of progress callbacks: called after step `step` (from 0) of at most `total`, with the objective `value`.

    An exception raised by the callback stops the computation.
    """

    def __call__(self, step: int, total: int, value: float | None = None) -> None: ...


def no_progress(step: int, total: int, value: float | None = None) -> None:
    """Do nothing: the default progress callback."""
    del step, total, value


def nested_progress(progress: Progress, step: int, total: int) -> Progress:
    """Return a callback for work inside step `step` of `total`: every call reports that outer step to `progress`."""

    outer = step, total

    def report_outer_step(step: int, total: int, value: float | None = None) -> None:
        del step, total
        progress(*outer, value)

    return report_outer_step
