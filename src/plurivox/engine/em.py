"""The loop that every EM-like method shares, with acceleration that never lets the objective fall.

A method brings `sweep`: one pass over the votes that takes parameters and returns better ones, together with the
objective OF THE PARAMETERS IT WAS GIVEN (that is what an E-step knows). The state is the parameters, so acceleration
and warm starts have something to hold.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import numpy as np

from plurivox.core.progress import Watch, quiet
from plurivox.core.types import Floats

S = TypeVar("S")

STEP_GROWTH = 4.0  # how fast the longest step may grow after one that paid


class Space(Protocol[S]):
    """How parameters become numbers that may be moved freely, and back."""

    def flat(self, state: S) -> Floats:
        """(n,) finite coordinates of a state; steps of equal length should matter about equally."""

    def state(self, flat: Floats) -> S:
        """The feasible state at, or next to, any finite coordinates."""


@dataclass(frozen=True)
class Climb(Generic[S]):
    """How a climb ended. The last pass was a sweep of `state`, so what it left behind (a posterior) belongs to it."""

    state: S  # the best parameters whose objective is known: it is trace[-1]
    better: S  # what the last sweep made of them
    trace: tuple[float, ...]  # the objective after each pass that was kept; it never falls
    converged: bool
    passes: int  # how often the votes were swept, steps that were taken back and passes spent before included


def climb(
    sweep: Callable[[S], tuple[S, float]],
    state: S,
    *,
    max_iter: int,
    tol: float,
    watch: Watch = quiet,
    space: Space[S] | None = None,
    spent: int = 0,
) -> Climb[S]:
    """Repeat `sweep` until one of its steps gains less than `tol`, or for `max_iter` passes over the votes.

    Passes that were `spent` before count among them; there is always one.

    With a `space`, every third pass tries a longer step: from x0, x1 = sweep(x0) and x2 = sweep(x1) it extrapolates
    x0 + 2 a r + a^2 v with r = x1 - x0, v = x2 - 2 x1 + x0 and a = |r| / |v| (SQUAREM, Varadhan & Roland 2008,
    https://doi.org/10.1111/j.1467-9469.2007.00585.x). A step whose objective is below that of x1 is taken back.

    Only a plain step may end the climb: a long one can gain little by chance. `tol=0` runs for `max_iter` passes, or
    until the objective falls by rounding.

    >>> def sweep(x):  # a hill with its top at 3
    ...     return 0.5 * x + 1.5, -((x - 3) ** 2)
    >>> top = climb(sweep, 0.0, max_iter=100, tol=1e-12)
    >>> round(top.state, 4), top.converged, len(top.trace) == top.passes
    (3.0, True, True)
    """
    climber = _Climber(sweep, max_iter, tol, watch, spent)
    return climber.stride(state, space) if space is not None else climber.walk(state)


@dataclass
class _Climber(Generic[S]):
    """A climb under way."""

    sweep: Callable[[S], tuple[S, float]]
    max_iter: int
    tol: float
    watch: Watch
    passes: int
    trace: list[float] = field(default_factory=list)

    def walk(self, state: S) -> Climb[S]:
        """Plain steps to the end."""
        better, _ = self._keep(self._look(state))
        while self.passes < self.max_iter:
            state = better
            better, gain = self._keep(self._look(state))
            if gain < self.tol:
                return self._end(state, better, True)
        return self._end(state, better, False)

    def stride(self, state: S, space: Space[S]) -> Climb[S]:
        """Plain steps and long ones in turn."""
        better, _ = self._keep(self._look(state))
        path = [space.flat(state)]  # where the plain steps since the last long one led
        longest = STEP_GROWTH
        while self.passes < self.max_iter:
            path.append(space.flat(better))
            if len(path) == 3:
                step, place = _stretched(path, longest)
                trial = space.state(place)
                seen = self._look(trial) if step > 1 and self.passes + 1 < self.max_iter else None
                if seen is not None and seen[1] >= self.trace[-1]:
                    state, (better, _) = trial, self._keep(seen)
                    path = [space.flat(state)]
                    longest = max(longest, STEP_GROWTH * step)
                    continue
                longest = max(STEP_GROWTH, step / STEP_GROWTH)
                path = path[1:]
            state = better
            better, gain = self._keep(self._look(state))
            if gain < self.tol:
                return self._end(state, better, True)
        return self._end(state, better, False)

    def _look(self, state: S) -> tuple[S, float]:
        """One pass over the votes."""
        better, value = self.sweep(state)
        assert value == value, "the objective is not a number"
        self.watch(self.passes, self.max_iter, max([value, *self.trace[-1:]]))
        self.passes += 1
        return better, value

    def _keep(self, seen: tuple[S, float]) -> tuple[S, float]:
        """Note a pass that counts: (what it made of the state, how much the state gained)."""
        better, value = seen
        gain = value - self.trace[-1] if self.trace else np.inf
        self.trace.append(value)
        return better, gain

    def _end(self, state: S, better: S, converged: bool) -> Climb[S]:
        return Climb(state, better, tuple(self.trace), converged, self.passes)


def _stretched(path: list[Floats], longest: float) -> tuple[float, Floats]:
    """(step, place): where the last two steps lead when the first is made `step` times as long; 1 is where they ended.

    Long arrays are changed in place, and summed without the linear algebra library, whose bits depend on its threads.
    """
    place, second, third = path
    step = second - place
    curve = third - second
    curve -= step
    ahead, bend = (float(np.sqrt(np.einsum("i,i->", x, x))) for x in (step, curve))
    length = min(ahead / bend, longest) if bend > 0 else (longest if ahead > 0 else 1.0)
    step *= 2 * length
    curve *= length**2
    place = place + step
    place += curve
    return length, place


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
