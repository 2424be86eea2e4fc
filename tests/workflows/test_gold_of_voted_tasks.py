"""Gold labels that do not belong to the votes: the same error or note wherever they are given."""

from collections.abc import Callable
from typing import Any

import pytest

import plurivox as pv

TASKS = [f"img{i:02}" for i in range(12)]
TRUTH = [("cat", "dog", "owl")[i % 3] for i in range(12)]
VOTES = pv.votes(
    task=TASKS * 3,
    worker=[name for name in ("ann", "bo", "cy") for _ in TASKS],
    label=TRUTH * 2 + TRUTH[1:] + TRUTH[:1],
)
USES: list[Callable[[Any], Any]] = [
    lambda gold: pv.fit(VOTES, "dawid-skene", gold=gold),
    lambda gold: pv.describe(VOTES, gold=gold),
    lambda gold: pv.compare(VOTES, "wawa", gold=gold),
    lambda gold: pv.recommend(VOTES, gold=gold, crowds_per_world=1),
    lambda gold: pv.report(VOTES, gold=gold),
]
every_use = pytest.mark.parametrize("use", USES, ids=["fit", "describe", "compare", "recommend", "report"])


@every_use
def test_gold_labels_of_other_tasks_are_an_error(use: Callable[[Any], Any]) -> None:
    with pytest.raises(pv.PlurivoxError, match=r"no task has both votes and a gold label.*'img00\.png'"):
        use({f"{task}.png": label for task, label in zip(TASKS, TRUTH, strict=True)})


@every_use
def test_gold_labels_spelled_differently_are_an_error(use: Callable[[Any], Any]) -> None:
    with pytest.raises(pv.PlurivoxError, match=r"no label in common: 'cat'.*differ only by case"):
        use({task: label.title() for task, label in zip(TASKS, TRUTH, strict=True)})


@pytest.mark.parametrize("use", USES[:2], ids=["fit", "describe"])
def test_gold_labels_of_tasks_without_votes_are_counted(use: Callable[[Any], Any]) -> None:
    with pytest.warns(
        pv.PlurivoxWarning, match="1 of 3 gold labels is not used, because its task has no votes: 'img99'"
    ):
        use({"img00": "cat", "img01": "dog", "img99": "owl"})


def test_comparison_notes_gold_labels_of_tasks_without_votes() -> None:
    gold = {"img00": "cat", "img01": "dog", "img99": "owl"}
    assert "1 of 3 gold labels is not used" in pv.compare(VOTES, "wawa", gold=gold).notes[0]


def test_gold_label_that_nobody_voted_for_is_used_if_all_labels_are_named() -> None:
    gold = dict(zip(TASKS, ["lion", *TRUTH[1:]], strict=True))
    with pytest.raises(pv.PlurivoxError, match=r"nobody voted for the gold label 'lion'.*--labels cat,dog,owl,lion"):
        pv.fit(VOTES, "dawid-skene", gold=gold)
    named = VOTES.with_labels(["cat", "dog", "owl", "lion"])
    assert pv.fit(named, "dawid-skene", gold=gold).soft.hard()[0] == "lion"


def test_own_gold_labels_of_other_tasks_are_no_error() -> None:
    data = pv.Dataset("own", votes=VOTES, gold=pv.SoftLabels.gold(["z"], ["cat"]))
    assert pv.describe(data).n_tasks == 12
