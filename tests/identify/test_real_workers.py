"""Rankings of the workers of real data sets: the scores agree with each other and with accuracy on gold."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import spearmanr

import plurivox as pv
from plurivox.core.results import Scores

NAMES = ("trace", "spam-score", "glad-ability", "agreement-with-rest", "gold-accuracy")


def ranked(folder: Path, by: str) -> dict[str, Scores]:
    """Return the scores of all workers of a data set, with confusion matrices by the aggregator `by`."""
    data = pv.read(folder)
    assert data.votes is not None
    matrices, glad = pv.fit(data.votes, by), pv.fit(data.votes, "glad")
    fits = {"trace": matrices, "spam-score": matrices, "glad-ability": glad}
    gold = {"gold-accuracy": data.gold}
    return {name: pv.score(data.votes, name, gold=gold.get(name), fit=fits.get(name)) for name in NAMES}


def like_gold(scores: dict[str, Scores]) -> dict[str, float]:
    """Return the rank correlation of each score with the share of wrong answers."""
    return {name: float(spearmanr(scores[name].badness, scores["gold-accuracy"].badness)[0]) for name in NAMES}


def test_worst_workers_of_labelme(data_set: Callable[[str], Path]) -> None:
    scores = ranked(data_set("labelme"), "dawid-skene")
    assert scores["trace"].worst(3).tolist() == ["w52", "w29", "w55"]
    assert scores["spam-score"].worst(3).tolist() == ["w55", "w29", "w52"]
    assert scores["glad-ability"].worst(3).tolist() == ["w43", "w42", "w52"]
    near = like_gold(scores)
    assert near["trace"] > 0.4 and near["spam-score"] > 0.4 and near["glad-ability"] > 0.5
    assert near["agreement-with-rest"] > 0.65


def test_worst_workers_of_cifar10h(data_set: Callable[[str], Path]) -> None:
    """With ten votes per worker and ten labels, matrices need a prior from the whole crowd."""
    plain, pooled = (ranked(data_set("cifar10h"), by) for by in ("dawid-skene", "dawid-skene[pool=4]"))
    assert like_gold(plain)["spam-score"] < 0.2 and like_gold(pooled)["spam-score"] > 0.7
    never_right = pooled["gold-accuracy"].names[pooled["gold-accuracy"].raw == 0]
    assert len(never_right) == 5 and {"w2561", "w2172"} < set(never_right.tolist())
    for name in ("trace", "spam-score", "glad-ability", "agreement-with-rest"):
        assert set(never_right.tolist()) <= set(pooled[name].worst(8).tolist()), name
    assert np.mean(pooled["gold-accuracy"].badness) == pytest.approx(0.0523, abs=5e-5)
