"""Rule listed-workers: who is removed, and what is said of names that no worker has."""

import pytest

from plurivox.clean import ListedWorkers, clean
from plurivox.core.errors import UnknownName
from plurivox.core.votes import Votes

VOTES = Votes.of(["a", "a", "a", "b"], ["ann", "bo", "cy, dr", "bo"], ["x", "y", "x", "y"])


def left(workers: str) -> list[str]:
    return [str(name) for name in clean(VOTES, [ListedWorkers(workers=workers)]).answers.workers]


def test_the_workers_named_are_removed() -> None:
    assert left("ann,bo") == ["cy, dr"]
    assert left(" bo ") == ["ann", "cy, dr"]
    assert left("") == ["ann", "bo", "cy, dr"]


def test_a_name_with_a_comma_can_be_removed_by_itself() -> None:
    assert left("cy, dr") == ["ann", "bo"]


def test_an_unknown_name_is_an_error_with_a_similar_name() -> None:
    with pytest.raises(UnknownName, match="anne"):
        left("anne")
