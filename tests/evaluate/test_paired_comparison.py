"""Comparison of two predictions equals the paired bootstrap of their means."""

import numpy as np
import pytest
from scipy.stats import binom

from plurivox.core.errors import InputError, OptionError
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import by_task, compare_predictions, paired_bootstrap, paired_test

RNG = np.random.default_rng(8)
TRUE = RNG.integers(0, 3, 120)
TRUTH = SoftLabels.one_hot(TRUE, range(120), range(3))


def prediction(skill: float) -> SoftLabels:
    prob = np.random.default_rng(round(100 * skill)).dirichlet(np.ones(3), 120) + skill * np.eye(3)[TRUE]
    return SoftLabels.of(prob / prob.sum(1, keepdims=True), range(120), range(3))


def test_the_comparison_equals_the_paired_bootstrap_of_means() -> None:
    one, two = prediction(0.5), prediction(0.2)
    found = compare_predictions(one, two, TRUTH, measures=["accuracy", "nll"])
    for i, (name, sign) in enumerate([("accuracy", 1), ("nll", -1)]):
        left, right = (sign * by_task(side, TRUTH, name)[1] for side in (one, two))
        mean, test = paired_bootstrap(left, right), paired_test(left, right)
        assert found.gain[i] == pytest.approx(mean.mean) and found.p_value[i] == pytest.approx(test.p_value, abs=0.005)
        assert (found.low[i], found.high[i]) == pytest.approx((mean.low, mean.high), abs=0.02)


def test_a_fraction_increases_p_and_keeps_the_interval() -> None:
    truth, one = SoftLabels.gold(range(30), ["x"] * 30), SoftLabels.gold(range(30), ["x"] * 30)
    two = SoftLabels.gold(range(30), ["x"] * 24 + ["y"] * 6)
    full, third = (
        compare_predictions(one, two, truth, measures=["accuracy"], fraction=share) for share in (1.0, 1 / 3)
    )
    assert third.p_value[0] == pytest.approx(binom.sf(4, 10, 0.2), abs=0.01) and full.p_value[0] < third.p_value[0]
    assert full.low[0] == third.low[0]


def test_equal_predictions_have_no_gain_and_tasks_must_overlap() -> None:
    one = prediction(0.3)
    same = compare_predictions(one, one.on(range(119, -1, -1)), TRUTH, measures=["macro-f1", "ece"], repeats=50)
    assert same.gain.tolist() == pytest.approx([0, 0]) and same.n.tolist() == [120, 120]
    assert compare_predictions(one, one, TRUTH, repeats=50).p_value.tolist() == [1, 1]
    with pytest.raises(InputError, match="have no task in common"):
        compare_predictions(one, SoftLabels.gold(["z"], [1]), TRUTH)
    with pytest.raises(OptionError, match="fraction must be"):
        compare_predictions(one, one, TRUTH, fraction=2)
