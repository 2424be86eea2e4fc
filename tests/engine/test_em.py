import numpy as np
import pytest

from plurivox.engine.em import climb


class Line:
    def flat(self, state):
        return np.concatenate([np.atleast_1d(part) for part in state])

    def state(self, flat):
        return flat[:1], flat[1:]


def hill(rates):
    """A sweep that halves (or so) the distance to the top at 1."""
    rates = np.asarray(rates)

    def sweep(state):
        x = np.concatenate(state)
        y = 1 + rates * (x - 1)
        return (y[:1], y[1:]), float(-((x - 1) ** 2).sum())

    return sweep


def test_acceleration_takes_far_fewer_passes_and_never_falls():
    start = (np.zeros(1), np.zeros(2))
    slow = climb(hill([0.99, 0.9, 0.5]), start, max_iter=5000, tol=1e-12)
    fast = climb(hill([0.99, 0.9, 0.5]), start, max_iter=5000, tol=1e-12, space=Line())
    assert slow.converged and fast.converged and fast.passes < slow.passes / 4
    assert (np.diff(fast.trace) >= 0).all() and (np.diff(slow.trace) >= 0).all()
    np.testing.assert_allclose(np.concatenate(fast.state), 1, atol=1e-4)


def test_the_state_is_the_one_whose_objective_ends_the_trace():
    for n in range(1, 12):
        seen = []
        inner = hill([0.9, 0.5])

        def sweep(state, inner=inner, seen=seen):
            seen.append(state)
            return inner(state)

        end = climb(sweep, (np.zeros(1), np.zeros(1)), max_iter=n, tol=0, space=Line())
        assert end.passes == n == len(seen) and end.state is seen[-1]
        assert end.trace[-1] == inner(end.state)[1] and not end.converged


def test_a_step_that_overshoots_is_taken_back():
    """The objective drops off a cliff beyond 1.5, where long steps land."""

    def sweep(state):
        x = float(state[0][0])
        value = x if x <= 1.5 else -100.0
        return (np.array([min(x + 0.1 * (1 if x < 1.4 else 0.5), 1.5)]), np.zeros(0)), value

    end = climb(sweep, (np.zeros(1), np.zeros(0)), max_iter=60, tol=1e-9, space=Line())
    assert (np.diff(end.trace) >= 0).all() and end.trace[-1] == pytest.approx(1.5) and end.passes > len(end.trace)


def test_watch_sees_every_pass_and_may_stop_it():
    class Enough(Exception):
        pass

    steps = []

    def watch(step, total, value=None):
        steps.append((step, total, value))
        if step == 3:
            raise Enough

    with pytest.raises(Enough):
        climb(hill([0.9, 0.9]), (np.zeros(1), np.zeros(1)), max_iter=9, tol=0, watch=watch)
    assert [step for step, _, _ in steps] == [0, 1, 2, 3] and steps[0][1] == 9
