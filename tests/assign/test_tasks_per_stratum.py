"""tasks-per-stratum: a fixed number of tasks from each stratum."""

from collections import Counter

import pytest

from plurivox.assign import Ledger, TasksPerStratum, plan
from plurivox.core.errors import OptionError


def test_every_session_has_22_hard_and_3_easy_tasks_by_default() -> None:
    ledger = Ledger([1] * 250, ["hard"] * 220 + ["easy"] * 30)
    kinds = [Counter(ledger.stratum[place.task] for place in one) for one in plan(TasksPerStratum(), ledger)]
    assert kinds == [{"hard": 22, "easy": 3}] * 10


def test_names_with_commas_are_given_as_json() -> None:
    assert TasksPerStratum(counts='{"a,b": 2}').tasks_per_stratum() == {"a,b": 2}


@pytest.mark.parametrize("counts", ["", "hard", "hard=0", "hard=x", "a=1,a=2", "{", '{"a": 0}', "{}", '{"a": true}'])
def test_invalid_counts_raise_option_error(counts: str) -> None:
    with pytest.raises(OptionError, match="counts is not valid"):
        TasksPerStratum(counts=counts)
