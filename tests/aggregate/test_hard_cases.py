"""Data sets on which methods are known to fail, or to pay."""

from collections.abc import Callable
from pathlib import Path

import pytest

import plurivox as pv

pytestmark = pytest.mark.long

WORKER_MODELS = ("dawid-skene", "fast-dawid-skene", "dawid-skene-clusters", "ibcc", "ebcc", "mace", "glad", "average")


def accuracies(folder: Path, *words: str) -> list[float]:
    data = pv.read(folder)
    return [pv.evaluate.accuracy(pv.fit(data.crowd(), word).soft, data.gold, ties="share") for word in words]


def test_twelve_labels_and_five_votes_do_not_break_the_average(data_set: Callable[[str], Path]) -> None:
    majority, average = accuracies(data_set("pos_twitter"), "vote-shares", "average")
    assert average > majority - 0.005


@pytest.mark.parametrize("word", WORKER_MODELS)
def test_no_method_does_harm_where_the_crowd_is_right(data_set: Callable[[str], Path], word: str) -> None:
    majority, other = accuracies(data_set("wsd"), "vote-shares", word)
    assert other >= majority - 1 / 177 - 1e-9  # one task at most


@pytest.mark.parametrize(("name", "gain"), [("bluebird", 0.1), ("barzan", 0.005)])
def test_confusion_matrices_pay_where_people_share_a_bias(
    data_set: Callable[[str], Path], name: str, gain: float
) -> None:
    majority, *others = accuracies(data_set(name), "vote-shares", "dawid-skene", "ibcc")
    assert min(others) > majority + gain
