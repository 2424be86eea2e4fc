"""Progress callbacks of long computations: a function called after every step."""

from typing import Protocol


class Progress(Protocol):
    """Type of progress callbacks: called after step `step` (from 0) of at most `total`, with the objective `value`.

    `total` is an `AtMost` if the computation ends before it has made all steps, when it has converged. An exception raised
    by the callback stops the computation.
    """

    def __call__(self, step: int, total: int, value: float | None = None) -> None: ...


class AtMost(int):
    """A number of steps that is only an upper bound, from which no remaining time can be estimated.

    >>> AtMost(100), isinstance(AtMost(100), int)
    (100, True)
    """


def no_progress(step: int, total: int, value: float | None = None) -> None:
    """Do nothing: the default progress callback."""
    del step, total, value


def callback_reporting_only_outer_step(progress: Progress, outer_step: int, n_outer_steps: int) -> Progress:
    """Return a callback for work inside one step of an outer loop: every call reports only that outer step to `progress`."""

    outer = outer_step, n_outer_steps

    def report_outer_step_only(step: int, total: int, value: float | None = None) -> None:
        del step, total
        progress(*outer, value)

    return report_outer_step_only
