"""Strata: so many tasks of each."""

from collections import Counter

import pytest

from plurivox.assign import Ledger, Strata, plan
from plurivox.core.errors import OptionError


def test_every_sitting_of_the_paper_has_22_hard_tasks_and_3_easy_ones() -> None:
    ledger = Ledger([1] * 250, ["hard"] * 220 + ["easy"] * 30)
    kinds = [Counter(ledger.stratum[place.task] for place in one) for one in plan(Strata(), ledger)]
    assert kinds == [{"hard": 22, "easy": 3}] * 10


def test_names_with_commas_stand_in_json() -> None:
    assert Strata(counts='{"a,b": 2}').wanted() == {"a,b": 2}


@pytest.mark.parametrize("words", ["", "hard", "hard=0", "hard=x", "a=1,a=2", "{", '{"a": 0}', "{}", '{"a": true}'])
def test_what_is_no_strata(words: str) -> None:
    with pytest.raises(OptionError, match="says no strata"):
        Strata(counts=words)
