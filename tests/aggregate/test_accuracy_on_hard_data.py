"""Accuracy on data sets on which some methods are known to be worse or better than vote shares."""

from collections.abc import Callable
from pathlib import Path

import pytest

import plurivox as pv

pytestmark = pytest.mark.long

WORKER_MODELS = ("dawid-skene", "fast-dawid-skene", "dawid-skene-clusters", "ibcc", "ebcc", "mace", "glad", "average")


def accuracies(folder: Path, *specs: str) -> list[float]:
    data = pv.read(folder)
    return [pv.evaluate.accuracy(pv.fit(data.crowd(), spec).soft, data.gold, ties="share") for spec in specs]


def test_average_is_accurate_with_twelve_labels_and_five_votes(data_set: Callable[[str], Path]) -> None:
    majority, average = accuracies(data_set("pos_twitter"), "vote-shares", "average")
    assert average > majority - 0.005


@pytest.mark.parametrize("spec", WORKER_MODELS)
def test_no_method_is_worse_than_vote_shares_if_the_majority_is_right(
    data_set: Callable[[str], Path], spec: str
) -> None:
    majority, other = accuracies(data_set("wsd"), "vote-shares", spec)
    assert other >= majority - 1 / 177 - 1e-9  # at most one task of 177 fewer


@pytest.mark.parametrize(("name", "gain"), [("bluebird", 0.1), ("barzan", 0.005)])
def test_confusion_matrices_are_more_accurate_if_workers_share_a_bias(
    data_set: Callable[[str], Path], name: str, gain: float
) -> None:
    majority, *others = accuracies(data_set(name), "vote-shares", "dawid-skene", "ibcc")
    assert min(others) > majority + gain
