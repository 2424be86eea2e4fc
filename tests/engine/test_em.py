import numpy as np
import pytest

from plurivox.engine.em import run_all_starts_return_best_and_index, run_em, run_em_together


class Line:
    def params_to_squarem_vector(self, state):
        return np.concatenate([np.atleast_1d(part) for part in state])

    def params_from_squarem_vector(self, flat, _):
        return flat[:1], flat[1:]


def hill(rates):
    """Return an EM pass that multiplies the distance to the maximum at 1 by the given rates."""
    rates = np.asarray(rates)

    def em_pass(state):
        x = np.concatenate(state)
        y = 1 + rates * (x - 1)
        return (y[:1], y[1:]), float(-((x - 1) ** 2).sum())

    return em_pass


def test_squarem_takes_fewer_passes_and_never_lowers_the_objective():
    start = (np.zeros(1), np.zeros(2))
    slow = run_em(hill([0.99, 0.9, 0.5]), start, max_iter=5000, tol=1e-12)
    fast = run_em(hill([0.99, 0.9, 0.5]), start, max_iter=5000, tol=1e-12, space=Line())
    assert slow.converged and fast.converged and fast.passes < slow.passes / 4
    assert (np.diff(fast.trace) >= 0).all() and (np.diff(slow.trace) >= 0).all()
    np.testing.assert_allclose(np.concatenate(fast.params), 1, atol=1e-4)


def test_params_are_those_of_the_last_objective_in_the_trace():
    for n in range(1, 12):
        seen = []
        inner = hill([0.9, 0.5])

        def em_pass(state, inner=inner, seen=seen):
            seen.append(state)
            return inner(state)

        end = run_em(em_pass, (np.zeros(1), np.zeros(1)), max_iter=n, tol=0, space=Line())
        assert end.passes == n == len(seen) and end.params is seen[-1]
        assert end.trace[-1] == inner(end.params)[1] and not end.converged


def test_a_step_that_overshoots_is_rejected():
    """The objective drops beyond 1.5, where extrapolated steps land."""

    def em_pass(state):
        x = float(state[0][0])
        value = x if x <= 1.5 else -100.0
        return (np.array([min(x + 0.1 * (1 if x < 1.4 else 0.5), 1.5)]), np.zeros(0)), value

    end = run_em(em_pass, (np.zeros(1), np.zeros(0)), max_iter=60, tol=1e-9, space=Line())
    assert (np.diff(end.trace) >= 0).all() and end.trace[-1] == pytest.approx(1.5) and end.passes > len(end.trace)


def test_progress_is_called_after_every_pass_and_can_stop_the_run():
    class Enough(Exception):
        pass

    steps = []

    def progress(step, total, value=None):
        steps.append((step, total, value))
        if step == 3:
            raise Enough

    with pytest.raises(Enough):
        run_em(hill([0.9, 0.9]), (np.zeros(1), np.zeros(1)), max_iter=9, tol=0, progress=progress)
    assert [step for step, _, _ in steps] == [0, 1, 2, 3] and steps[0][1] == 9


def test_may_fall_continues_after_a_falling_objective():
    values = iter([0.0, 5.0, 4.0, 3.0, 3.5, 3.6])
    end = run_em(lambda x: (x + 1, next(values)), 0, max_iter=50, tol=0.2, objective_may_fall=True)
    assert end.converged and end.trace[-1] == 3.6 and end.params == 5
    values = iter([0.0, 5.0, 4.0])
    assert run_em(lambda x: (x + 1, next(values)), 0, max_iter=50, tol=0.2).trace == (0.0, 5.0, 4.0)


def test_the_best_of_several_starts_is_returned_and_progress_counts_all():
    tops, steps = [1.0, 3.0, 3.0, 2.0], []

    def run(i, progress):
        return run_em(lambda x: (x, tops[i]), i, max_iter=5, tol=1e-9, progress=progress)

    best, kept = run_all_starts_return_best_and_index(
        4, 5, run, lambda step, total, value=None: steps.append((step, total))
    )
    assert kept == 1 and best.params == 1 and best.trace == (3.0, 3.0)
    assert steps == [(0, 20), (1, 20), (5, 20), (6, 20), (10, 20), (11, 20), (15, 20), (16, 20)]


def test_runs_together_match_separate_runs():
    starts = [(np.full(1, x), np.full(2, x)) for x in (0.0, 0.5, -3.0)]
    one = hill([0.99, 0.9, 0.5])
    options = {"max_iter": 5000, "tol": 1e-12, "space": Line()}
    steps = []
    together = run_em_together(
        lambda runs: [one(x) for x in runs], starts, progress=lambda step, *_: steps.append(step), **options
    )
    for found, start in zip(together, starts, strict=True):
        alone = run_em(one, start, **options)
        assert (found.trace, found.passes, found.converged) == (alone.trace, alone.passes, alone.converged)
    assert steps == list(range(max(found.passes for found in together)))


def test_parameters_can_be_dropped_during_a_run():
    """Coordinates within 1e-3 of the maximum are dropped: the vector gets shorter, and SQUAREM does not mix lengths."""
    rates = {0: 0.99, 1: 0.9, 2: 0.5}

    def em_pass(state):
        value = -sum((x - 1) ** 2 for x in state.values())
        moved = {i: 1 + rates[i] * (x - 1) for i, x in state.items()}
        return {i: x for i, x in moved.items() if i == 0 or abs(x - 1) > 1e-3}, value

    class Named:
        def params_to_squarem_vector(self, state):
            return np.array(list(state.values()))

        def params_from_squarem_vector(self, flat, like):
            return dict(zip(like, flat.tolist(), strict=True))

    found = run_em(em_pass, dict.fromkeys(rates, 0.0), max_iter=5000, tol=1e-12, space=Named())
    assert found.converged and list(found.params) == [0] and found.passes < 100
