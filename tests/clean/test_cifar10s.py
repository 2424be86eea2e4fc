"""The rules on the released CIFAR-10S answers, which do not contain the workers that the paper excluded."""

from collections.abc import Callable
from pathlib import Path

import pytest

import plurivox as pv
from plurivox.clean import clean

pytestmark = pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
Find = Callable[[str], Path]


def test_numbers_of_copies_and_repeats_in_the_release(data_set: Find) -> None:
    answers = pv.read(data_set("cifar10s")).answers
    assert answers is not None and len(answers) == 6723
    done = clean(answers, ["stored-twice", "repeats-once"])
    assert (
        done.audit.removed_and_flagged_counts_by_rule()["answers out"].tolist() == [27, 496]
        and len(done.answers) == 6200
    )
    assert set(done.audit.worker[:27].tolist()) == {"w122"}
    marked = clean(answers, ["stored-twice"]).answers.repeat_of
    assert marked is not None and int((marked >= 0).sum()) == 496


def test_the_rules_of_the_paper_remove_nobody_from_the_release(data_set: Find) -> None:
    data = pv.read(data_set("cifar10s"))
    assert data.answers is not None
    for rule, flagged in (("collins2022", 40), ("collins2022-released", 44)):
        audit = clean(data.answers, [rule], data.gold).audit
        assert audit.answers.sum() == 0 and audit.did.tolist() == ["flagged"] * flagged


def test_numbers_of_errors_that_the_release_contains(data_set: Find) -> None:
    answers = pv.read(data_set("cifar10s")).answers
    assert answers is not None
    rules = {"percent-out-of-range": 0, "contradiction": 40, "missing-percent": 0, "missing-percent[zero=yes]": 6}
    rules |= {"unmarked-repeats": 25}
    assert {rule: int(clean(answers, [rule]).audit.answers.sum()) for rule in rules} == rules
