"""Several starts, the best kept."""

from collections.abc import Callable
from typing import TypeVar

from plurivox.core.watch import Watch
from plurivox.engine.em import Climb

S = TypeVar("S")


def best_of(starts: int, total: int, attempt: Callable[[int, Watch], Climb[S]], watch: Watch) -> tuple[Climb[S], int]:
    """(the climb that ended highest, its number); of equals the first. `total` is how many passes one may take.

    What an attempt leaves behind beside its climb, such as a posterior, is that of the last one, not of the best.
    """
    best, at = attempt(0, _part_of(watch, 0, starts * total)), 0
    for i in range(1, starts):
        one = attempt(i, _part_of(watch, i * total, starts * total))
        if one.trace[-1] > best.trace[-1]:
            best, at = one, i
    return best, at


def _part_of(watch: Watch, before: int, whole: int) -> Watch:
    """A watch that counts on from the steps of the attempts before."""

    def part(step: int, total: int, value: float | None = None) -> None:
        del total  # of this attempt alone
        watch(before + step, whole, value)

    return part
