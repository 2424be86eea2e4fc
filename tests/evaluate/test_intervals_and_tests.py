"""Intervals and tests equal scipy and values computed by hand."""

import numpy as np
import pytest
from scipy import stats

from plurivox.core.errors import InputError, OptionError
from plurivox.evaluate import (
    Test,
    bootstrap,
    mann_whitney,
    paired_bootstrap,
    paired_test,
    simultaneous_bootstrap,
    spread,
    t_interval,
)

RNG = np.random.default_rng(3)
LEFT, RIGHT = RNG.normal(0.3, 1, 40), RNG.normal(0, 1, 40)


def test_the_bootstrap_interval_equals_scipy() -> None:
    theirs = stats.bootstrap((LEFT,), np.mean, n_resamples=20_000, method="percentile", rng=1).confidence_interval
    ours = bootstrap(LEFT, repeats=20_000)
    assert ours.mean == pytest.approx(LEFT.mean())
    np.testing.assert_allclose([ours.low, ours.high], theirs, atol=0.02)


def test_pairs_are_drawn_together() -> None:
    """Two samples with a constant difference: the interval of the difference has no width."""
    shift = paired_bootstrap(LEFT + 0.1, LEFT)
    assert shift.low == pytest.approx(0.1) and shift.high == pytest.approx(0.1) and shift.excludes_zero
    assert paired_bootstrap(LEFT, RIGHT) == bootstrap(LEFT - RIGHT)


def test_the_bootstrap_depends_on_the_seed_and_not_on_the_block_size(monkeypatch: pytest.MonkeyPatch) -> None:
    once = bootstrap(LEFT, seed=5)
    assert bootstrap(LEFT, seed=5) == once != bootstrap(LEFT, seed=6)
    monkeypatch.setattr("plurivox.evaluate.intervals_and_tests.MAX_CELLS", 100)
    again = bootstrap(LEFT, seed=5)
    np.testing.assert_allclose([again.low, again.high], [once.low, once.high])


def test_single_values_and_invalid_input() -> None:
    one = bootstrap([0.5])
    assert one.mean == 0.5 and np.isnan(one.low) and not one.excludes_zero and str(one) == "+0.5000"
    with pytest.raises(InputError, match="finite values"):
        bootstrap([])
    with pytest.raises(InputError, match="needs pairs; got 2 and 1"):
        paired_bootstrap([1, 2], [1])


def test_mean_std_and_t_interval_equal_scipy() -> None:
    about, theirs = spread(LEFT), stats.t.interval(0.95, 39, LEFT.mean(), stats.sem(LEFT))
    assert (about.mean, about.std, about.n) == pytest.approx((LEFT.mean(), np.std(LEFT, ddof=1), 40))
    assert (t_interval(LEFT).low, t_interval(LEFT).high) == pytest.approx(theirs)
    assert str(spread([0.5])) == "0.5000 (n=1)" and np.isnan(t_interval([0.5]).low)


def test_the_p_value_is_the_share_of_resamples_above_twice_the_gain() -> None:
    """With a gain on two of ten tasks, p is P(Binomial(10, .2) > 4)."""
    left, right = np.r_[np.ones(2), np.zeros(8)], np.zeros(10)
    found = paired_test(left, right, repeats=100_000)
    assert found.gain == 0.2 and found.p_value == pytest.approx(stats.binom.sf(4, 10, 0.2), abs=0.002)
    half = paired_test(left, right, repeats=100_000, fraction=0.5)
    assert found.p_value < half.p_value == pytest.approx(stats.binom.sf(2, 5, 0.2), abs=0.003)
    assert paired_test(right, left).p_value > 0.5 and paired_test(left, left).p_value == 1
    assert [Test(0.1, p, 9).significance_stars for p in (0.01, 0.05, 0.06)] == ["**", "*", ""]
    with pytest.raises(OptionError, match="fraction must be above 0"):
        paired_test(left, right, fraction=0)
    with pytest.raises(InputError, match="needs pairs"):
        paired_test([1.0], [1.0, 2.0])


def test_mann_whitney_equals_a_count_of_pairs() -> None:
    left, right = [1.0, 3.0, 3.0, 5.0], [2.0, 3.0, 0.0]
    wins = sum((a > b) + (a == b) / 2 for a in left for b in right)
    found = mann_whitney(left, right)
    assert found.u == wins and found.share == wins / 12 and 0 < found.p_value < 1
    # two of the 20 ways to split six ranks are as extreme
    assert mann_whitney([4, 5, 6], [1, 2, 3]).p_value == pytest.approx(2 / 20)
    with pytest.raises(InputError, match="finite values"):
        mann_whitney([], [1])


def test_simultaneous_intervals_hold_together() -> None:
    """Of 300 tables with ten columns of mean 0, about 5% have an interval without 0; of single intervals many more."""
    rng = np.random.default_rng(0)
    together, single = 0, 0
    for _ in range(300):
        table = rng.normal(size=(60, 10))
        together += any(one.excludes_zero for one in simultaneous_bootstrap(table, repeats=400))
        single += any(t_interval(column).excludes_zero for column in table.T)
    assert together / 300 < 0.1 and single / 300 > 0.25


def test_a_single_simultaneous_interval_is_that_of_one_mean() -> None:
    (one,) = simultaneous_bootstrap(LEFT[:, None])
    usual = bootstrap(LEFT)
    np.testing.assert_allclose([one.mean, one.low, one.high], [usual.mean, usual.low, usual.high], atol=0.02)
    constant, varying = simultaneous_bootstrap(np.column_stack([np.full(40, 0.1), LEFT]))
    assert constant.low == pytest.approx(0.1) == constant.high and varying.low == pytest.approx(one.low)
    with pytest.raises(InputError, match="need a table"):
        simultaneous_bootstrap(LEFT)
