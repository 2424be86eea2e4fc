"""Distances between distributions against scikit-learn and scipy."""

import numpy as np
import pytest
from scipy.spatial.distance import cityblock
from scipy.stats import entropy
from sklearn.metrics import log_loss

from plurivox.core.labels import SoftLabels
from plurivox.evaluate import cross_entropy, total_variation

CHANCE = np.random.default_rng(1)
P, Q = CHANCE.dirichlet(np.ones(5), (2, 60))
TRUTH, GUESS = (SoftLabels.of(prob, range(60), range(5)) for prob in (P, Q))


def test_cross_entropy() -> None:
    expected = np.mean([entropy(p) + entropy(p, q) for p, q in zip(P, Q, strict=True)])
    assert cross_entropy(GUESS, TRUTH) == pytest.approx(expected)
    gold = SoftLabels.one_hot(P.argmax(1), range(60), range(5))
    assert cross_entropy(GUESS, gold) == pytest.approx(log_loss(P.argmax(1), Q, labels=range(5)))


def test_a_guess_of_zero_is_clipped() -> None:
    sure, truth = SoftLabels.of([[1, 0]], "a", "xy"), SoftLabels.of([[0.5, 0.5]], "a", "xy")
    assert cross_entropy(sure, truth) == pytest.approx(-np.log(1e-12) / 2)


def test_total_variation() -> None:
    assert total_variation(GUESS, TRUTH) == pytest.approx(
        np.mean([cityblock(*pair) / 2 for pair in zip(P, Q, strict=True)])
    )
    assert total_variation(TRUTH, GUESS) == total_variation(GUESS, TRUTH) and total_variation(GUESS, GUESS) == 0
