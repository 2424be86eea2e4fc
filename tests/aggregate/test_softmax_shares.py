"""softmax-shares: the formula, published values, and large counts."""

import numpy as np
import pytest
from scipy.special import softmax

from crowds import crowd
from plurivox.aggregate import SoftmaxShares
from plurivox.core.votes import Votes


@pytest.mark.parametrize("temperature", [0.5, 1.0, 7.0])
def test_probabilities_are_the_softmax_of_counts(temperature: float) -> None:
    votes = Votes.of(**crowd())
    prob = SoftmaxShares(temperature=temperature).fit(votes).soft.prob
    np.testing.assert_allclose(prob, softmax(votes.counts() / temperature, axis=1))


def test_published_values() -> None:
    """Five votes of five for one of 12 tags: .931; 3 to 1 of two: .881 (Fornaciari et al. 2021)."""
    counts = np.zeros((1, 12))
    counts[0, 4] = 5
    tags = Votes.from_counts(counts, ["a"], range(12))
    assert SoftmaxShares().fit(tags).soft.confidence[0] == pytest.approx(0.931, abs=5e-4)
    stems = Votes.from_counts(np.array([[3, 1]]), ["a"], ["no", "yes"])
    assert SoftmaxShares().fit(stems).soft.confidence[0] == pytest.approx(0.881, abs=5e-4)


def test_thousands_of_votes_do_not_overflow() -> None:
    votes = Votes.from_counts(np.array([[3000, 2999]]), ["a"], ["no", "yes"])
    np.testing.assert_allclose(SoftmaxShares().fit(votes).soft.prob, softmax([[1.0, 0.0]], axis=1))
