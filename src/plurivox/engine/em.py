"""The loop that every EM method shares, with SQUAREM acceleration that never lets the objective fall.

A method brings `em_pass`: one pass over the votes (E-step and M-step) that takes parameters and returns the updated ones,
together with the objective OF THE PARAMETERS IT WAS GIVEN (that is what an E-step knows). The state of the loop is the
parameters, so acceleration and warm starts are the caller's choice.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from plurivox.core.progress import Progress, no_progress
from plurivox.core.types import Floats

P = TypeVar("P")

STEP_GROWTH = 4.0  # how fast the longest step may grow after an accepted one


class ParamSpace(Protocol[P]):
    """How parameters become a vector that SQUAREM may extrapolate, and back."""

    def pack(self, params: P) -> Floats:
        """(n,) finite coordinates; steps of equal length should matter about equally."""

    def unpack(self, vector: Floats, like: P, /) -> P:
        """The feasible parameters at, or next to, any finite coordinates; `like` are those of the last point."""


@dataclass(frozen=True)
class EMResult(Generic[P]):
    """How an EM run ended. Its last pass was over `params`, so what that left behind (a posterior) belongs to them."""

    params: P  # the best parameters whose objective is known: it is trace[-1]
    trace: tuple[float, ...]  # the objective after each pass that was kept; it never falls
    converged: bool
    passes: int  # passes over the votes, rejected long steps and those spent before included


def run_em(
    em_pass: Callable[[P], tuple[P, float]],
    params: P,
    *,
    max_iter: int,
    tol: float,
    progress: Progress = no_progress,
    space: ParamSpace[P] | None = None,
    spent: int = 0,
    may_fall: bool = False,
) -> EMResult[P]:
    """Repeat E- and M-step until a pass gains less than `tol`, or for `max_iter` passes over the votes.

    Passes that were `spent` before count among them; there is always one.

    With a `space`, every third pass tries a longer step: from x0, x1 = em_pass(x0) and x2 = em_pass(x1) it extrapolates
    x0 + 2 a r + a^2 v with r = x1 - x0, v = x2 - 2 x1 + x0 and a = |r| / |v| (SQUAREM, Varadhan & Roland 2008,
    https://doi.org/10.1111/j.1467-9469.2007.00585.x). A step whose objective is below that of x1 is rejected.

    Only a plain step may end the run: a long one can gain little by chance. `tol=0` runs for `max_iter` passes, or until
    the objective falls by rounding. For updates that are no exact EM (`may_fall`) a falling objective ends nothing.

    >>> def em_pass(x):  # a hill with its top at 3
    ...     return 0.5 * x + 1.5, -((x - 3) ** 2)
    >>> result = run_em(em_pass, 0.0, max_iter=100, tol=1e-12)
    >>> round(result.params, 4), result.converged, len(result.trace) == result.passes
    (3.0, True, True)
    """
    steps = em_steps(params, max_iter=max_iter, tol=tol, progress=progress, space=space, spent=spent, may_fall=may_fall)
    wanted = next(steps)
    while True:
        try:
            wanted = steps.send(em_pass(wanted))
        except StopIteration as end:
            result: EMResult[P] = end.value
            return result


def run_em_together(
    em_pass: Callable[[list[P]], list[tuple[P, float]]],
    starts: Sequence[P],
    *,
    max_iter: int,
    tol: float,
    progress: Progress = no_progress,
    space: ParamSpace[P] | None = None,
) -> list[EMResult[P]]:
    """Run EM from several starts at once: `em_pass` gets the parameters of all that have not ended, and passes over the
    votes once for all of them. The results are those of one run after the other.
    """
    runs = [em_steps(one, max_iter=max_iter, tol=tol, progress=no_progress, space=space) for one in starts]
    wanted = {i: next(run) for i, run in enumerate(runs)}
    results: dict[int, EMResult[P]] = {}
    step = 0
    while wanted:
        passed = em_pass(list(wanted.values()))
        progress(step, max_iter, max(objective for _, objective in passed))
        step += 1
        for i, one in zip(list(wanted), passed, strict=True):
            try:
                wanted[i] = runs[i].send(one)
            except StopIteration as end:
                results[i] = end.value
                del wanted[i]
    return [results[i] for i in range(len(runs))]


def em_steps(
    params: P,
    *,
    max_iter: int,
    tol: float,
    progress: Progress,
    space: ParamSpace[P] | None,
    spent: int = 0,
    may_fall: bool = False,
) -> Generator[P, tuple[P, float], EMResult[P]]:
    """The steps of `run_em`: yield parameters, take (updated parameters, objective) of a pass over the votes with them."""
    trace: list[float] = []
    passes = spent

    def record_pass(passed: tuple[P, float]) -> tuple[P, float]:
        nonlocal passes
        objective = passed[1]
        assert objective == objective, "the objective is NaN"
        progress(passes, max_iter, max([objective, *trace[-1:]]))
        passes += 1
        return passed

    updated, objective = record_pass((yield params))
    trace.append(objective)
    path = [space.pack(params)] if space is not None else []  # where the plain steps since the last long one led
    max_step = STEP_GROWTH
    while passes < max_iter:
        if space is not None:
            path.append(space.pack(updated))
            if len(path[-1]) < len(path[-2]):  # some parameters are gone
                path = path[-1:]
        if space is not None and len(path) == 3:
            step, vector = _extrapolate(path, max_step)
            if step > 1 and passes + 1 < max_iter:
                trial = space.unpack(vector, updated)
                trial_updated, objective = record_pass((yield trial))
                if objective >= trace[-1]:
                    params, updated, path = trial, trial_updated, [space.pack(trial)]
                    trace.append(objective)
                    max_step = max(max_step, STEP_GROWTH * step)
                    continue
            max_step = max(STEP_GROWTH, step / STEP_GROWTH)
            path = path[1:]
        params = updated
        updated, objective = record_pass((yield params))
        trace.append(objective)
        gain = trace[-1] - trace[-2]
        if gain < tol and not (may_fall and gain < 0):
            return EMResult(params, tuple(trace), True, passes)
    return EMResult(params, tuple(trace), False, passes)


def _extrapolate(path: list[Floats], max_step: float) -> tuple[float, Floats]:
    """(step, x): SQUAREM extrapolation of the three points of `path` with step length `step`; 1 is the last point.

    Long arrays are changed in place, and summed without the linear algebra library, whose bits depend on its threads.
    """
    x, second, third = path
    r = second - x
    v = third - second
    v -= r
    norm_r, norm_v = (float(np.sqrt(np.einsum("i,i->", a, a))) for a in (r, v))
    step = min(norm_r / norm_v, max_step) if norm_v > 0 else (max_step if norm_r > 0 else 1.0)
    r *= 2 * step
    v *= step**2
    x = x + r
    x += v
    return step, x


def best_of_starts(
    n_starts: int, max_iter: int, run: Callable[[int, Progress], EMResult[P]], progress: Progress
) -> tuple[EMResult[P], int]:
    """(the run with the highest objective, the number of its start); of equals the first.

    `run(i, watch)` runs EM from start i for at most `max_iter` passes. What a run leaves behind beside its result, such as
    a posterior, is that of the last one, not of the best.
    """

    def progress_of_start(start: int) -> Progress:
        """The progress callback of one start: it counts on from the passes of the starts before."""

        def one(step: int, total: int, value: float | None = None) -> None:
            del total  # of this start alone
            progress(start * max_iter + step, n_starts * max_iter, value)

        return one

    return best_run(run(i, progress_of_start(i)) for i in range(n_starts))


def best_run(results: Iterable[EMResult[P]]) -> tuple[EMResult[P], int]:
    """(the run with the highest objective, its place among the results); of equals the first."""
    kept, best = max(enumerate(results), key=lambda numbered: numbered[1].trace[-1])
    return best, kept
