"""Real sets with gold: confusion matrices must pay where they are known to, and do no harm where they cannot."""

from collections.abc import Callable
from pathlib import Path

import pytest

from plurivox import aggregate
from plurivox.evaluate import accuracy
from plurivox.io import read

ELSEWHERE = [  # found by independent plain code, to three digits
    ("bluebird", "one-coin", 0.583),  # it takes the many who always err in one direction at their word
    ("labelme", "dawid-skene", 0.789),
    ("labelme", "dawid-skene[pool=4]", 0.795),
    ("labelme", "fast-dawid-skene", 0.790),
]
HERE = [  # first found by this code: a change of them must have a reason
    ("bluebird", "dawid-skene[smooth=0]", 0.898),
    ("dog", "dawid-skene[smooth=0]", 0.843),
    ("barzan", "dawid-skene[smooth=0]", 0.712),
    ("wsd", "dawid-skene", 0.994),
]


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize(("name", "method", "wanted"), ELSEWHERE + HERE)
def test_accuracy_stays_what_it_was_found_to_be(
    data_set: Callable[[str], Path], name: str, method: str, wanted: float
) -> None:
    data = read(data_set(name))
    fit = aggregate.methods.make(method).fit(data.votes)
    assert accuracy(fit.soft, data.gold.shared(data.votes.tasks)) == pytest.approx(wanted, abs=3e-3)


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize("name", ["bluebird", "barzan", "dog", "rte", "labelme"])
def test_matrices_pay(data_set: Callable[[str], Path], name: str) -> None:
    data = read(data_set(name))
    gold = data.gold.shared(data.votes.tasks)
    scores = {
        m: accuracy(aggregate.methods.make(m).fit(data.votes).soft, gold) for m in ("majority-vote", "dawid-skene")
    }
    assert scores["dawid-skene"] > scores["majority-vote"]
