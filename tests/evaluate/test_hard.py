"""Accuracy against scikit-learn, and by hand where labels tie or differ."""

import numpy as np
import pytest
from sklearn import metrics

from plurivox.core.errors import InputError
from plurivox.core.labels import SoftLabels
from plurivox.evaluate import accuracy, balanced_accuracy


def guess_and_truth(n: int = 200, k: int = 4, seed: int = 0) -> tuple[SoftLabels, SoftLabels]:
    chance = np.random.default_rng(seed)
    prob, true = chance.dirichlet(np.ones(k), n), chance.choice(k, n, p=[0.7, 0.1, 0.1, 0.1])
    return SoftLabels.of(prob, range(n), range(k)), SoftLabels.gold(chance.permutation(n), true, labels=range(k))


def test_as_scikit_learn() -> None:
    guess, truth = guess_and_truth()
    said, true = guess.hard(), truth.on(guess.tasks).hard()
    assert accuracy(guess, truth) == pytest.approx(metrics.accuracy_score(true, said))
    assert balanced_accuracy(guess, truth) == pytest.approx(metrics.balanced_accuracy_score(true, said))
    assert accuracy(guess, truth, ties="share") == accuracy(guess, truth)


def test_ties() -> None:
    guess = SoftLabels.of([[1 / 3, 1 / 3, 1 / 3], [0.5, 0, 0.5], [0, 1, 0]], "abc", "xyz")
    truth = SoftLabels.gold("abc", "zxy")
    assert accuracy(guess, truth) == pytest.approx(2 / 3)
    assert accuracy(guess, truth, ties="share") == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)
    assert balanced_accuracy(guess, truth, ties="share") == pytest.approx((1 / 3 + 1 / 2 + 1) / 3)


def test_tasks_and_labels_meet_by_name() -> None:
    """Only b and c are shared; the truth lists its labels in another order and has one the guess does not know."""
    guess = SoftLabels.of([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3]], "abc", ["no", "yes"])
    truth = SoftLabels.gold(["c", "b", "x"], ["maybe", "yes", "no"], labels=["yes", "maybe", "no"])
    assert accuracy(guess, truth) == 0.5
    sparse = SoftLabels.gold(["b", "c"], ["yes", "no"])
    assert accuracy(sparse, truth) == 0.5
    with pytest.raises(InputError, match="share no task"):
        accuracy(guess, SoftLabels.gold(["z"], ["yes"]))
