"""How long work tells where it is: a function called after every step."""

from typing import Protocol


class Progress(Protocol):
    """Called after step `step` (from 0) of at most `total`; `value` is what it reached. Raising stops the work."""

    def __call__(self, step: int, total: int, value: float | None = None) -> None: ...


def no_progress(step: int, total: int, value: float | None = None) -> None:
    """Watch nothing."""
    del step, total, value


def within(progress: Progress, step: int, total: int) -> Progress:
    """For work that is one step of a longer one: it tells that step, so that the whole can be stopped in it."""

    outer = step, total

    def tell(step: int, total: int, value: float | None = None) -> None:
        del step, total
        progress(*outer, value)

    return tell
