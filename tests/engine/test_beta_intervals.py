"""95% intervals of Beta distributions against scipy.stats."""

import numpy as np
from scipy import stats

from plurivox.engine.beta_intervals import beta_interval_95


def test_intervals_match_the_quantiles_of_scipy() -> None:
    a, b = np.random.default_rng(0).gamma(0.5, 20, (2, 500)) + 0.01
    np.testing.assert_allclose(beta_interval_95(a, b), stats.beta.ppf([[0.025], [0.975]], a, b), rtol=1e-12)
