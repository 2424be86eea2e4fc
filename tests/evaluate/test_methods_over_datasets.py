"""Ranks, tests and intervals of methods over data sets equal scipy and values computed by hand."""

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from plurivox.evaluate import MethodsOverDatasets

VALUES = np.random.default_rng(2).normal([0, 0.3, 0.6, 1], size=(12, 4)).round(1)


def test_ranks_tests_and_intervals_equal_scipy() -> None:
    found = MethodsOverDatasets(VALUES, reference=0, higher_is_better=False)
    np.testing.assert_allclose(found.mean_ranks, stats.rankdata(VALUES, axis=1).mean(0))
    assert found.friedman is not None
    assert found.friedman.chi2 == pytest.approx(stats.friedmanchisquare(*VALUES.T).statistic)
    for j in (1, 2, 3):
        difference = VALUES[:, j] - VALUES[:, 0]
        low, high = stats.t.interval(1 - 0.05 / 3, 11, difference.mean(), stats.sem(difference))
        assert (found.differences[j].low, found.differences[j].high) == pytest.approx((low, high))
        assert found.wins_ties_losses[j].tolist() == [
            np.sum(difference < -1e-9),
            np.sum(abs(difference) < 1e-9),
            np.sum(difference > 1e-9),
        ]
    continuous = VALUES + np.random.default_rng(3).normal(0, 0.01, VALUES.shape)
    p = [stats.wilcoxon(continuous[:, j], continuous[:, 0], method="exact").pvalue for j in (1, 2, 3)]
    ours = MethodsOverDatasets(continuous, 0, higher_is_better=False).holm_p_values
    np.testing.assert_allclose(ours, [np.nan, *multipletests(p, method="holm")[1]])


def test_higher_or_lower_values_are_better() -> None:
    low, high = (MethodsOverDatasets(VALUES, 0, higher_is_better=flag) for flag in (False, True))
    np.testing.assert_allclose(low.mean_ranks, 5 - high.mean_ranks)
    assert low.wins_ties_losses[3].tolist() == high.wins_ties_losses[3].tolist()[::-1]
    np.testing.assert_allclose(low.signed_rank_sums, -high.signed_rank_sums)
    np.testing.assert_allclose(low.holm_p_values, high.holm_p_values)


def test_methods_with_the_same_values_count_once() -> None:
    """Copies of methods change neither ranks, nor p-values, nor intervals, nor Friedman's test."""
    once = MethodsOverDatasets(VALUES, 0, higher_is_better=True)
    twice = MethodsOverDatasets(VALUES[:, [0, 1, 2, 3, 1, 3, 0]] + 1e-15, 0, higher_is_better=True)
    assert twice.first_with_same_values.tolist() == [0, 1, 2, 3, 1, 3, 0] and twice.n_comparisons == 3
    np.testing.assert_allclose(twice.mean_ranks, once.mean_ranks[[0, 1, 2, 3, 1, 3, 0]])
    np.testing.assert_allclose(twice.holm_p_values, once.holm_p_values[[0, 1, 2, 3, 1, 3, 0]])
    assert twice.differences[4].low == pytest.approx(once.differences[1].low)
    assert twice.friedman is not None and once.friedman is not None
    assert twice.friedman.chi2 == pytest.approx(once.friedman.chi2)


def test_missing_results() -> None:
    """Ranks use data sets with all results, comparisons those with both; a method without any result is not ranked."""
    values = np.c_[VALUES, np.full(12, np.nan)]
    values[:3, 1] = np.nan
    found = MethodsOverDatasets(values, 0, higher_is_better=True)
    assert found.ranked_datasets.tolist() == list(range(3, 12)) and found.n_both.tolist() == [12, 9, 12, 12, 0]
    np.testing.assert_allclose(found.mean_ranks[:4], stats.rankdata(-VALUES[3:], axis=1).mean(0))
    assert np.isnan([found.mean_ranks[4], found.holm_p_values[4], found.differences[4].mean, found.medians[4]]).all()
    assert found.n_comparisons == 3 and found.dataset_with_largest_share[4] == -1


def test_the_data_set_with_the_largest_share_is_named() -> None:
    found = MethodsOverDatasets(np.array([[1.0, 0.0], [6.0, 0.0], [3.0, 0.0]]), 0, higher_is_better=False)
    assert found.dataset_with_largest_share.tolist() == [1, -1] and found.largest_share[0] == 0.6
    assert found.means_without_largest_share[0] == 2 and found.medians.tolist() == [3, 0]
    assert np.isnan(found.largest_share[1]) and found.shares_of_mean[:, 0].tolist() == [0.1, 0.6, 0.3]


def test_the_intervals_hold_together() -> None:
    """Over many draws of normal differences, all intervals contain the true difference in 95% of draws or more."""
    rng = np.random.default_rng(4)
    hits = 0
    for _ in range(200):
        values = rng.normal(size=(8, 1)) + rng.normal(size=(8, 6))
        found = MethodsOverDatasets(values, 0, higher_is_better=True).differences[1:]
        hits += all(one.low <= 0 <= one.high for one in found)
    assert hits >= 185
