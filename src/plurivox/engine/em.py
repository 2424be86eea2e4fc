"""EM loop shared by all EM methods, with SQUAREM acceleration that never lowers the objective.

A method supplies `em_pass`: one pass over the votes (E-step and M-step) that takes parameters and returns the updated ones,
together with the objective OF THE PARAMETERS IT WAS GIVEN (which the E-step computes). The state of the loop is the
parameters, so acceleration and warm starts are the caller's choice.
"""

from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.progress_callbacks import AtMost, Progress, no_progress

P = TypeVar("P")

STEP_GROWTH = 4.0  # factor by which the maximal step grows after an accepted one


class ParamSpace(Protocol[P]):
    """Conversion of parameters to a vector that SQUAREM extrapolates, and back."""

    def params_to_squarem_vector(self, params: P) -> Floats:
        """Return model parameters as one vector of finite numbers for SQUAREM, scaled so that equal
        steps matter about equally.
        """

    def params_from_squarem_vector(self, vector: Floats, like: P, /) -> P:
        """Return the valid model parameters nearest to a vector; `like` are the parameters of the last point, with the
        same structure.
        """


@dataclass(frozen=True)
class EMResult(Generic[P]):
    """Result of an EM run: the best parameters, the objective of each pass, and whether it converged."""

    params: P  # the best parameters whose objective is known: it is trace[-1]
    trace: tuple[float, ...]  # the objective of each accepted pass; it never falls
    converged: bool
    passes: int  # over the votes, including rejected extrapolations and the `passes_spent` before


def run_em(
    em_pass: Callable[[P], tuple[P, float]],
    params: P,
    *,
    max_iter: int,
    tol: float,
    progress: Progress = no_progress,
    space: ParamSpace[P] | None = None,
    passes_spent: int = 0,
    objective_may_fall: bool = False,
) -> EMResult[P]:
    """Run EM: repeat `em_pass` until the objective gains less than `tol`, or for `max_iter` passes; return an EMResult.

    `passes_spent`, made before by the caller, count towards `max_iter`; at least one pass is made.

    With a `space`, every third pass tries a longer step: from x0, x1 = em_pass(x0) and x2 = em_pass(x1) it extrapolates
    x0 + 2 a r + a^2 v with r = x1 - x0, v = x2 - 2 x1 + x0 and a = |r| / |v| (SQUAREM, Varadhan & Roland 2008,
    https://doi.org/10.1111/j.1467-9469.2007.00585.x). A step whose objective is below that of x1 is rejected.

    Only a plain step can end the run: an extrapolated one can gain little by accident. `tol=0` runs for `max_iter` passes,
    or until the objective falls by rounding. With `objective_may_fall`, for updates that are not exact EM, a falling
    objective does
    not end the run.

    >>> def em_pass(x):  # a hill with its top at 3
    ...     return 0.5 * x + 1.5, -((x - 3) ** 2)
    >>> result = run_em(em_pass, 0.0, max_iter=100, tol=1e-12)
    >>> round(result.params, 4), result.converged, len(result.trace) == result.passes
    (3.0, True, True)
    """
    steps = em_loop_yielding_params_to_evaluate(
        params,
        max_iter=max_iter,
        tol=tol,
        progress=progress,
        space=space,
        passes_spent=passes_spent,
        objective_may_fall=objective_may_fall,
    )
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
    """Run EM from several starting parameters in lockstep, one joint pass for all; return one EMResult per start.

    `em_pass` gets the parameters of all runs that have not ended and passes over the votes once for all of them.
    """
    runs = [
        em_loop_yielding_params_to_evaluate(one, max_iter=max_iter, tol=tol, progress=no_progress, space=space)
        for one in starts
    ]
    wanted = {i: next(run) for i, run in enumerate(runs)}
    results: dict[int, EMResult[P]] = {}
    step = 0
    while wanted:
        passed = em_pass(list(wanted.values()))
        progress(step, AtMost(max_iter), max(objective for _, objective in passed))
        step += 1
        for i, one in zip(list(wanted), passed, strict=True):
            try:
                wanted[i] = runs[i].send(one)
            except StopIteration as end:
                results[i] = end.value
                del wanted[i]
    return [results[i] for i in range(len(runs))]


def em_loop_yielding_params_to_evaluate(
    params: P,
    *,
    max_iter: int,
    tol: float,
    progress: Progress,
    space: ParamSpace[P] | None,
    passes_spent: int = 0,
    objective_may_fall: bool = False,
) -> Generator[P, tuple[P, float], EMResult[P]]:
    """EM loop as a generator: yield parameters, receive (updated parameters, objective) of a pass, return an EMResult."""
    trace: list[float] = []
    passes = passes_spent

    def count_and_report_pass(pass_result: tuple[P, float]) -> tuple[P, float]:
        """Count one EM pass and report its objective as progress; return (updated parameters, objective) unchanged."""
        nonlocal passes
        objective = pass_result[1]
        assert objective == objective, "the objective is NaN"
        progress(passes, AtMost(max_iter), max([objective, *trace[-1:]]))
        passes += 1
        return pass_result

    updated, objective = count_and_report_pass((yield params))
    trace.append(objective)
    # points reached by plain steps since the last extrapolation
    path = [space.params_to_squarem_vector(params)] if space is not None else []
    max_step = STEP_GROWTH
    while passes < max_iter:
        if space is not None:
            path.append(space.params_to_squarem_vector(updated))
            if len(path[-1]) < len(path[-2]):  # some parameters were dropped
                path = path[-1:]
        if space is not None and len(path) == 3:
            step, vector = _squarem_step_length_and_vector(path, max_step)
            if step > 1 and passes + 1 < max_iter:
                trial = space.params_from_squarem_vector(vector, updated)
                trial_updated, objective = count_and_report_pass((yield trial))
                if objective >= trace[-1]:
                    params, updated, path = trial, trial_updated, [space.params_to_squarem_vector(trial)]
                    trace.append(objective)
                    max_step = max(max_step, STEP_GROWTH * step)
                    continue
            max_step = max(STEP_GROWTH, step / STEP_GROWTH)
            path = path[1:]
        params = updated
        updated, objective = count_and_report_pass((yield params))
        trace.append(objective)
        gain = trace[-1] - trace[-2]
        if gain < tol and not (objective_may_fall and gain < 0):
            return EMResult(params, tuple(trace), True, passes)
    return EMResult(params, tuple(trace), False, passes)


def _squarem_step_length_and_vector(three_vectors: list[Floats], max_step: float) -> tuple[float, Floats]:
    """Return (step length, vector) of the SQUAREM extrapolation of the three parameter vectors in `three_vectors`.

    Step length 1 gives the last point. Large arrays are changed in place, and summed without BLAS, whose rounding depends
    on its threads.
    """
    x, second, third = three_vectors
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


def run_all_starts_return_best_and_index(
    n_starts: int, max_iter: int, run_from_start: Callable[[int, Progress], EMResult[P]], progress: Progress
) -> tuple[EMResult[P], int]:
    """Run EM from several starts one by one; return (EMResult with the highest objective, index of its start).

    `run_from_start(i, progress)` runs EM from start i for at most `max_iter` passes. State that a run stores outside
    its result, such
    as a posterior, is that of the last run, not of the best.
    """

    def make_progress_callback_of_start(start_index: int) -> Progress:
        """Return the progress callback for EM from one start, which also counts the passes of earlier starts."""

        def report_pass_of_start(step: int, total: int, value: float | None = None) -> None:
            del total  # of this start alone
            progress(start_index * max_iter + step, AtMost(n_starts * max_iter), value)

        return report_pass_of_start

    return best_em_result_and_index(run_from_start(i, make_progress_callback_of_start(i)) for i in range(n_starts))


def best_em_result_and_index(results: Iterable[EMResult[P]]) -> tuple[EMResult[P], int]:
    """Return (the EMResult with the highest final objective, its index); the first of ties."""
    index, best = max(enumerate(results), key=lambda numbered: numbered[1].trace[-1])
    return best, index
