"""Data sets: which of their parts is used, and copies with other parts."""

import polars as pl
import pytest

import plurivox as pv
from plurivox.core.errors import InputError
from plurivox.io.dataset_reader import as_votes

VOTES = pv.votes({"task": list("aabb"), "worker": list("vwvw"), "label": list("nyny")})
COUNTS = pv.counts({"task": list("abc"), "n": [3, 0, 1], "y": [0, 4, 2]})
GOLD = pv.SoftLabels.gold(list("ab"), list("ny"))


def unread() -> pv.Votes:
    raise AssertionError("this part must not be read")


@pytest.mark.parametrize(
    ("votes", "counts", "taken"),
    [
        (VOTES, None, "votes"),
        (None, COUNTS, "counts"),
        (VOTES, COUNTS, "counts"),
        (VOTES, pv.counts({"task": list("ab"), "n": [3, 0], "y": [0, 4]}), "votes"),
    ],
    ids=["votes alone", "counts alone", "counts cover more", "both cover as many"],
)
def test_crowd_uses_the_part_that_covers_more_tasks(
    votes: pv.Votes | None, counts: pv.Votes | None, taken: str
) -> None:
    data = pv.Dataset("made", votes=votes, counts=counts)
    assert data.crowd_part() == taken and data.crowd() is getattr(data, taken)


def test_a_named_part_is_used_or_is_an_error() -> None:
    both = pv.Dataset("made", votes=VOTES, counts=COUNTS)
    assert both.crowd("votes") is VOTES and both.crowd("counts") is COUNTS
    with pytest.raises(InputError, match="made has no counts; it contains votes"):
        pv.Dataset("made", votes=VOTES).crowd_part("counts")
    with pytest.raises(InputError, match="made has no votes; it contains gold"):
        pv.Dataset("made", gold=GOLD).crowd_part()
    with pytest.raises(InputError, match="unknown part 'gold'; use votes or counts"):
        both.crowd_part("gold")


def test_counts_are_not_read_if_votes_are_selected() -> None:
    assert as_votes(pv.Dataset("made", votes=VOTES, counts=unread), "votes") is VOTES
    assert pv.Dataset("made", votes=unread).crowd_part() == "votes"


def test_a_copy_keeps_the_other_parts_unread() -> None:
    data = pv.Dataset("made", votes=VOTES, counts=COUNTS, items=unread, gold=GOLD, tables={"votes": pl.DataFrame})
    cut = data.without("votes")
    assert cut.parts() == ["counts", "gold", "items"] and not cut.tables
    assert cut.counts is COUNTS and cut.gold is GOLD


def test_with_crowd_replaces_answers_votes_and_counts() -> None:
    tables = dict.fromkeys(("votes_as_read", "audit", "audit_1", "senses"), pl.DataFrame)
    data = pv.Dataset("made", votes=unread, counts=unread, gold=GOLD, tables=tables)
    made = data.with_crowd({"votes": VOTES})
    assert made.parts() == ["votes", "gold"] and made.votes is VOTES
    assert sorted(made.tables) == ["audit_1", "audit_2", "senses"]
