"""Behaviour of Answers: marks, checks, columns."""

import json
from typing import Any

import numpy as np
import pytest

from crowds import some_answers
from plurivox.core.answers import Answers
from plurivox.core.errors import InputError


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"marks": [[("named", "x", "")]]}, "1 lists of marks for 2 answers"),
        ({"marks": [[], [], []]}, "3 lists of marks for 2 answers"),
        ({"marks": [[("named", "x")], []]}, "a mark is"),
        ({"marks": [["abc"], []]}, "a mark is"),
        ({"marks": [[("perhaps", "x", "")], []]}, "not 'perhaps'"),
        ({"repeat_of": np.array([-1, 2])}, "repeated answer codes run from -1 to 2"),
        ({"repeat_of": np.array([-2, 0])}, "repeated answer"),
        ({"seconds": np.ones(3)}, "seconds has 3 values for 2 answers"),
    ],
)
def test_invalid_marks_and_columns_raise_input_error(changes: dict[str, Any], words: str) -> None:
    fields: dict[str, Any] = {"task": ["a", "b"], "worker": ["w", "v"], "marks": [[("named", "x", "")], []]}
    with pytest.raises(InputError, match=words):
        Answers.of(**fields | changes)


@pytest.mark.parametrize("start", [[1, 1], [0, 2], [0], [0, 2, 1]])
def test_mark_start_must_match_the_number_of_marks(start: list[int]) -> None:
    n = max(len(start) - 1, 1)
    mark = np.zeros(1, int)
    with pytest.raises(InputError, match="mark_start must rise from 0"):
        Answers(np.zeros(n, int), np.zeros(n, int), ["a"], ["w"], ["x"], np.array(start), mark, mark, np.array([""]))


def test_where_needs_one_bool_per_answer() -> None:
    with pytest.raises(InputError, match="for each of 3 answers"):
        some_answers().where(np.array([True, False]))
    assert some_answers().where(np.array([False, True, True])).typed_texts_at_rank(0).tolist() == ["", ""]


@pytest.mark.parametrize("never", [["a|b", "c"], ["[a]"], ["[x", "y"]])
def test_labels_with_a_bar_are_written_as_json(never: list[str]) -> None:
    answers = Answers.of(["t"], ["w"], [[("never", label, "") for label in never]])
    assert json.loads(answers.columns()["never"][0]) == never


def test_other_labels_are_joined_with_a_bar() -> None:
    answers = Answers.of(["t"], ["w"], [[("never", "a", ""), ("never", "b[", "")]])
    assert answers.columns()["never"].tolist() == ["a|b["]


def test_only_named_marks_may_lack_a_label() -> None:
    made = Answers.of(["a"], ["w"], [[("named", 7, "70"), ("named", None, "30"), ("never", 8, "")]])
    assert (
        made.label_codes_at_rank(1).tolist() == [-1]
        and made.typed_texts_at_rank(1).tolist() == ["30"]
        and made.mask_marked_labels_per_answer("named").sum() == 1
    )
    assert made.columns()["second"].tolist() == [""] and made.columns()["second_percent"].tolist() == ["30"]
    assert made.labels.tolist() == [7, 8]
    with pytest.raises(InputError, match="mark has no label"):
        Answers.of(["a"], ["w"], [[("never", None, "")]])
