"""The rules stored-twice, unmarked-repeats, repeats-once and inconsistent-repeats."""

import numpy as np
import pytest

from clean.faulty_answers import GOLD, TASKS, answers_of, faulty, row, sitting
from plurivox.clean import clean
from plurivox.core.errors import InputError
from plurivox.core.votes import Votes


def test_all_answers_of_a_session_stored_twice_are_removed_once() -> None:
    done = clean(faulty(), ["stored-twice"])
    assert done.audit.worker.tolist() == ["saved-twice"] * 14
    first = int(done.audit.row[0]) - 14
    assert done.audit.reason[0] == f"identical to row {first}"


def test_repeats_of_a_removed_copy_become_repeats_of_the_original() -> None:
    rows = sitting("ann")
    doubled = answers_of([*rows, *rows])
    # repeats refer to the second copies of the answers
    aimed = np.where(doubled.repeat_of >= 0, doubled.repeat_of + 14, -1)
    left = clean(type(doubled)(**{**doubled.__getstate__(), "repeat_of": aimed}), ["stored-twice"]).answers
    assert left.repeat_of is not None and left.repeat_of.tolist() == [-1] * 12 + [0, 1]


def test_row_numbers_in_reasons_are_those_of_the_source() -> None:
    rows = [row("cy", TASKS[0], 0, percent="900"), *sitting("ann"), *sitting("ann")]
    audit = clean(answers_of(rows), ["percent-out-of-range", "stored-twice"]).audit
    assert audit.row.tolist() == [0, *range(15, 29)] and audit.reason[1].endswith("to row 1")


@pytest.mark.parametrize("odd", [{"seconds": 21.0}, {"percent": "81"}, {"position": 3}, {"sitting": "another"}])
def test_answers_that_differ_in_any_column_are_not_copies(odd: dict) -> None:
    rows = [row("ann", TASKS[0], 0), row("ann", TASKS[0], 0) | odd]
    if "percent" in odd:
        rows[1]["marks"] = [("named", "bird", "81"), *rows[0]["marks"][1:]]
    assert len(clean(answers_of(rows), ["stored-twice"]).audit) == 0


def test_an_answer_without_a_time_is_never_a_copy() -> None:
    rows = [row("ann", TASKS[0], 0, seconds=np.nan)] * 2
    assert len(clean(answers_of(rows), ["stored-twice"]).audit) == 0


def test_unmarked_repeats_keeps_repeats_and_the_first_or_last_answer() -> None:
    assert "double" in (worker := clean(faulty(), ["stored-twice", "unmarked-repeats"]).audit.worker.tolist())
    assert worker.count("double") == 1
    rows = [
        row("ann", TASKS[0], 5, top="cat"),
        row("ann", TASKS[0], 2, top="dog"),
        row("ann", TASKS[0], 9, repeat=True),
    ]
    for keep, gone in (("first", [0]), ("last", [1])):
        assert clean(answers_of(rows), [f"unmarked-repeats[keep={keep}]"]).audit.row.tolist() == gone


def test_repeats_once_keeps_the_first_or_last_answer() -> None:
    left = clean(faulty(), ["repeats-once"]).answers
    assert len(left) == 11 * 12 and left.position is not None and left.position.max() == 11
    last = clean(faulty(), ["stored-twice", "repeats-once[keep=last]"]).answers
    assert len(last) == 11 * 12 and last.position is not None and last.position.max() == 30


def test_answers_are_ordered_by_time_then_position_then_row() -> None:
    rows = [row("ann", TASKS[0], 5, top="cat"), row("ann", TASKS[0], 2, top="dog")]
    answers = answers_of(rows)
    assert clean(answers, ["repeats-once"]).audit.row.tolist() == [0]
    timed = type(answers)(**{**answers.__getstate__(), "when": np.array([10.0, 20.0])})
    assert clean(timed, ["repeats-once"]).audit.row.tolist() == [1]


def test_repeats_once_needs_the_order_of_votes() -> None:
    votes = Votes.of(["a", "a"], ["ann", "ann"], ["x", "y"])
    with pytest.raises(InputError, match=r"repeats-once needs to know which answer came first.*--repeats first"):
        clean(votes, ["repeats-once"])


def test_all_rows_of_a_soft_answer_are_removed_together() -> None:
    votes = Votes.of(
        list("aaaab"),
        ["ann"] * 5,
        list("xyxyx"),
        weight=[0.7, 0.3, 0.4, 0.6, 1],
        answer=[0, 0, 1, 1, 2],
        when=[1, 1, 2, 2, 3],
    )
    done = clean(votes, ["repeats-once"])
    assert done.answers.weights.tolist() == [0.7, 0.3, 1.0]
    assert done.audit.row.tolist() == [2] and done.audit.reason.tolist() == ["answered before: 'x'"]


def test_workers_who_change_their_top_label_too_often_are_removed() -> None:
    audit = clean(faulty(), ["inconsistent-repeats"]).audit
    assert audit.worker.tolist() == ["fickle"] and audit.value.tolist() == [1.0]
    half = answers_of(sitting("ann", top=lambda at: "deer" if at == 13 else None))
    assert len(clean(half, ["inconsistent-repeats"]).audit) == 0
    assert len(clean(half, ["inconsistent-repeats[share=0.4]"]).audit) == 1


def test_the_error_without_repeats_says_how_to_mark_them() -> None:
    with pytest.raises(InputError, match="there are none: mark repeated answers in a column 'repeat_of'"):
        clean(Votes.of(["a"], ["ann"], ["x"]), ["inconsistent-repeats"], GOLD)
