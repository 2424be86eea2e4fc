"""95% intervals of Beta distributions against scipy.stats."""

import numpy as np
from scipy import stats

from plurivox.engine.beta_intervals import beta_interval_95, beta_interval_95_from_moments


def test_intervals_match_the_quantiles_of_scipy() -> None:
    a, b = np.random.default_rng(0).gamma(0.5, 20, (2, 500)) + 0.01
    np.testing.assert_allclose(beta_interval_95(a, b), stats.beta.ppf([[0.025], [0.975]], a, b), rtol=1e-12)


def test_intervals_from_moments_match_and_zero_variance_gives_the_mean() -> None:
    a, b = np.random.default_rng(1).gamma(2, 5, (2, 500)) + 0.5
    found = beta_interval_95_from_moments(*stats.beta.stats(a, b, moments="mv"))
    np.testing.assert_allclose(found, beta_interval_95(a, b), rtol=1e-9)
    sure = np.array([0.0, 0.3, 1.0])
    np.testing.assert_array_equal(beta_interval_95_from_moments(sure, np.zeros(3)), [sure, sure])
