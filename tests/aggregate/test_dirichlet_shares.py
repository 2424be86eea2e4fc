"""dirichlet-shares: uniform prior and prior from the crowd."""

import numpy as np
import pytest

from plurivox.aggregate import DirichletShares
from plurivox.core.votes import Votes

COUNTS = np.array([[3.0, 0, 1], [0, 0, 0]])


@pytest.mark.parametrize("added", [0.5, 1.0])
def test_uniform_prior(added: float) -> None:
    votes = Votes.from_counts(COUNTS, ["a", "b"], "xyz")
    prob = DirichletShares(added=added).fit(votes).soft.prob
    np.testing.assert_allclose(prob[0], (COUNTS[0] + added) / (4 + 3 * added))
    np.testing.assert_allclose(prob[1], 1 / 3)


def test_prior_of_the_crowd() -> None:
    votes = Votes.from_counts(COUNTS, ["a", "b"], "xyz")
    fit = DirichletShares(added=2, prior="crowd").fit(votes)
    # only one task has votes, so the prior equals its shares
    np.testing.assert_allclose(fit.soft.prob, [[0.75, 0, 0.25]] * 2)
    none = DirichletShares(added=0, prior="crowd").fit(votes)
    np.testing.assert_allclose(none.soft.prob[1], [0.75, 0, 0.25])
