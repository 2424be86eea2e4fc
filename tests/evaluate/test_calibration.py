"""Calibration against scikit-learn and by hand."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from plurivox.core.labels import SoftLabels
from plurivox.evaluate import brier, ece, nll

CHANCE = np.random.default_rng(2)
Q, TRUE = CHANCE.dirichlet(np.ones(3), 80), CHANCE.integers(0, 3, 80)
GUESS, TRUTH = SoftLabels.of(Q, range(80), range(3)), SoftLabels.gold(range(80), TRUE, labels=range(3))


def test_as_scikit_learn() -> None:
    assert nll(GUESS, TRUTH) == pytest.approx(log_loss(TRUE, Q, labels=[0, 1, 2]))
    assert brier(GUESS, TRUTH) == pytest.approx(brier_score_loss(TRUE, Q, labels=[0, 1, 2], scale_by_half=False))


def test_a_sure_mistake_costs_no_more_than_the_clip() -> None:
    sure = SoftLabels.one_hot((TRUE + 1) % 3, range(80), range(3))
    assert nll(sure, TRUTH) == pytest.approx(-np.log(1e-6)) and brier(sure, TRUTH) == 2
    stranger = SoftLabels.gold(range(80), ["other"] * 80)
    assert nll(SoftLabels.of(Q, range(80), list("xyz")), stranger) == pytest.approx(-np.log(1e-6))


def test_ece_by_hand() -> None:
    """Confidences .5 (one of two right) and .9 (three of four right), one on an edge: .6 belongs to the bin below."""
    first = [0.5, 0.5, 0.9, 0.9, 0.9, 0.9, 0.6]
    right = [1, 0, 1, 1, 1, 0, 1]
    guess = SoftLabels.of([[p, 1 - p] for p in first], range(7), ["x", "y"])
    truth = SoftLabels.gold(range(7), ["x" if hit else "y" for hit in right])
    assert ece(guess, truth) == pytest.approx((2 * 0 + 4 * abs(0.75 - 0.9) + 0.4) / 7)
    assert ece(guess, truth, bins=1) == pytest.approx(abs(np.mean(right) - np.mean(first)))


def test_ece_as_a_loop_over_bins() -> None:
    hit, sure, total = Q.argmax(1) == TRUE, Q.max(1), 0.0
    for b in range(15):
        inside = (sure > b / 15) & (sure <= (b + 1) / 15)
        if inside.any():
            total += inside.mean() * abs(hit[inside].mean() - sure[inside].mean())
    assert ece(GUESS, TRUTH) == pytest.approx(total)
