"""Accuracy on real data sets with gold labels: methods with confusion matrices, and the others."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plurivox import aggregate
from plurivox.evaluate import accuracy
from plurivox.io import read

REFERENCE = [  # accuracy of independent reference implementations, to three digits
    ("bluebird", "one-coin", 0.583),  # many workers are wrong in the same direction
    ("labelme", "dawid-skene", 0.789),
    ("labelme", "dawid-skene[pool=4]", 0.795),
    ("labelme", "fast-dawid-skene", 0.790),
]
REGRESSION = [  # accuracy of this implementation, to detect unintended changes
    ("bluebird", "dawid-skene[smooth=0]", 0.898),
    ("dog", "dawid-skene[smooth=0]", 0.843),
    ("barzan", "dawid-skene[smooth=0]", 0.712),
    ("wsd", "dawid-skene", 0.994),
]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize(("name", "method", "wanted"), REFERENCE + REGRESSION)
def test_accuracy_has_not_changed(data_set: Callable[[str], Path], name: str, method: str, wanted: float) -> None:
    data = read(data_set(name))
    fit = aggregate.methods.make(method).fit(data.votes)
    assert accuracy(fit.soft, data.gold.shared(data.votes.tasks)) == pytest.approx(wanted, abs=3e-3)


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize("name", ["bluebird", "barzan", "dog", "rte", "labelme"])
def test_confusion_matrices_improve_accuracy(data_set: Callable[[str], Path], name: str) -> None:
    data = read(data_set(name))
    gold = data.gold.shared(data.votes.tasks)
    scores = {
        m: accuracy(aggregate.methods.make(m).fit(data.votes).soft, gold) for m in ("majority-vote", "dawid-skene")
    }
    assert scores["dawid-skene"] > scores["majority-vote"]
