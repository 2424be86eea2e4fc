"""Tables with percents are read as Answers, as typed."""

import numpy as np
import polars as pl

from plurivox.io.entered import answers, holds_answers

TYPED = {
    "task": ["a", "a", "b"],
    "worker": ["w", "w", "v"],
    "top": ["cat", "dog", "cat"],
    "top_percent": ["8p", " 80", ""],
    "second": ["dog", None, ""],
    "second_percent": ["20", None, None],
    "never": ["ship|truck", "", None],
    "trial": [1, 2, 1],
    "repeat": [False, True, False],
    "rt_ms": [31000.0, 2000.0, None],
}


def test_what_was_typed_stays_as_typed() -> None:
    made = answers(TYPED)
    assert made.typed(0).tolist() == ["8p", " 80", ""] and made.labels.tolist() == ["cat", "dog", "ship", "truck"]
    assert made.named(1).tolist() == [1, -1, -1] and made.typed(1).tolist() == ["20", "", ""]
    assert made.marked("never").sum(1).tolist() == [2, 0, 0]
    assert made.repeat_of.tolist() == [-1, 0, -1] and made.seconds[:2].tolist() == [31, 2]


def test_a_votes_table_with_percents_is_answers_and_numbers_read_as_typed() -> None:
    table = {"task": ["a"], "worker": ["w"], "label": ["cat"], "prob": [80.0], "label2": ["dog"], "prob2": [12.5]}
    assert holds_answers(list(table)) and not holds_answers(["task", "worker", "label"])
    made = answers(table | {"impossible": ["ship"]})
    assert made.typed(0).tolist() == ["80"] and made.typed(1).tolist() == ["12.5"]


def test_answers_come_back_from_their_own_table() -> None:
    made = answers(TYPED)
    back = answers(made.to_polars())
    assert back.to_polars().equals(made.to_polars())


def test_where_on_the_list_a_label_stood_is_kept() -> None:
    made = answers(TYPED | {"slot": [2, None, 0]})
    assert made.slot is not None and made.slot.tolist() == [2, -1, 0]
    assert made.where(np.array([True, False, True])).slot.tolist() == [2, 0]  # type: ignore[union-attr]
    assert answers(made.to_polars()).slot.tolist() == [2, -1, 0]  # type: ignore[union-attr]


def test_many_answers_at_once() -> None:
    n = 50_000
    table = pl.DataFrame({"task": np.arange(n) % 100, "worker": np.arange(n), "top": ["x", "y"] * (n // 2)})
    made = answers(table.with_columns(top_percent=pl.lit("70"), never=pl.lit("y|z")))
    assert len(made) == n and made.marked("never").sum() == 2 * n


def test_repeats_in_a_sitting_that_was_stored_twice_belong_to_their_own_copy() -> None:
    table = {
        "task": ["a", "b", "a"] * 2,
        "worker": ["w"] * 6,
        "top": ["x", "y", "y"] * 2,
        "top_percent": ["70"] * 6,
        "trial": [1, 2, 3] * 2,
        "batch": ["p"] * 6,
        "repeat": [False, False, True] * 2,
    }
    assert answers(table).repeat_of.tolist() == [-1, -1, 0, -1, -1, 3]
