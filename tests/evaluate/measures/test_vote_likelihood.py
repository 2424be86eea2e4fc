"""Likelihood of vote counts equals scipy's multinomial; the vote floor equals the KL divergence of simulated votes."""

import numpy as np
import pytest
from scipy.stats import multinomial

from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import count_deviance, count_log_likelihood, kl_divergence, shares_of, vote_floor

RNG = np.random.default_rng(5)
Q = RNG.dirichlet(np.ones(3), 200)
COUNTS = np.array([RNG.multinomial(n, q) for n, q in zip(RNG.integers(1, 9, 200), Q, strict=True)])
PREDICTION, VOTES = SoftLabels.of(Q, range(200), "xyz"), Votes.from_counts(COUNTS, range(200), "xyz")


def test_likelihood_equals_scipy_and_deviance_is_the_difference() -> None:
    log = [multinomial.logpmf(c, c.sum(), q) for c, q in zip(COUNTS, Q, strict=True)]
    best = [multinomial.logpmf(c, c.sum(), c / c.sum()) for c in COUNTS]
    assert count_log_likelihood(PREDICTION, VOTES) == pytest.approx(np.mean(log))
    assert count_deviance(PREDICTION, VOTES) == pytest.approx(np.mean(best) - np.mean(log))


def test_a_perfect_prediction_is_at_the_floor() -> None:
    """With 51 votes per task drawn from the prediction, the KL divergence to the vote shares is the floor, not 0."""
    q = np.random.default_rng(1).dirichlet(np.full(5, 5), 4000)
    drawn = Votes.from_counts(np.random.default_rng(2).multinomial(51, q), range(4000), range(5))
    prediction = SoftLabels.of(q, range(4000), range(5))
    found = kl_divergence(prediction, shares_of(drawn))
    assert vote_floor(drawn) == pytest.approx(found, rel=0.06)
    assert vote_floor(drawn, prediction) == pytest.approx(found, rel=0.15)
    assert count_deviance(prediction, drawn) == pytest.approx(4 / 2, rel=0.06)


def test_the_floor_of_one_vote_is_at_most_the_entropy() -> None:
    votes = Votes.of(["a"], ["w"], ["x"], labels="xyz")
    even = SoftLabels.of(np.full((1, 3), 1 / 3), "a", "xyz")
    assert vote_floor(votes) == 0 and vote_floor(votes, even) == pytest.approx((3 - 1) / 2)
    assert vote_floor(votes, even) <= kl_divergence(even, shares_of(votes)) == pytest.approx(np.log(3))


def test_shares_leave_out_tasks_without_votes() -> None:
    votes = Votes.of(["b", "b", "a"], [1, 2, 1], ["x", "y", "x"], tasks=["a", "b", "c"])
    shares = shares_of(votes)
    assert shares.tasks.tolist() == ["a", "b"] and shares.support is not None and shares.support.tolist() == [1, 2]
    assert count_deviance(SoftLabels.of([[0.5, 0.5]], ["b"], ["y", "x"]), votes) == pytest.approx(0)
    assert count_deviance(SoftLabels.of([[1, 0]], ["a"], ["y", "x"]), votes) == pytest.approx(-np.log(1e-12))
    with pytest.raises(InputError, match="the votes are empty"):
        shares_of(Votes.of([], [], [], tasks=["a"], labels=["x"]))
