"""Tables with percentages are read as Answers, with the text as typed."""

import numpy as np
import polars as pl
import pytest

from plurivox.core.errors import InputError
from plurivox.io.answers_from_tables import answers
from plurivox.io.tabular.table_files import Columns

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


def test_typed_text_is_stored_unchanged() -> None:
    made = answers(TYPED)
    assert made.typed_texts_at_rank(0).tolist() == ["8p", " 80", ""] and made.labels.tolist() == [
        "cat",
        "dog",
        "ship",
        "truck",
    ]
    assert made.label_codes_at_rank(1).tolist() == [1, -1, -1] and made.typed_texts_at_rank(1).tolist() == [
        "20",
        "",
        "",
    ]
    assert made.mask_marked_labels_per_answer("never").sum(1).tolist() == [2, 0, 0]
    assert made.repeat_of.tolist() == [-1, 0, -1] and made.seconds[:2].tolist() == [31, 2]


def test_a_votes_table_with_percents_is_answers_and_numbers_read_as_typed() -> None:
    table = {"task": ["a"], "worker": ["w"], "label": ["cat"], "prob": [80.0], "label2": ["dog"], "prob2": [12.5]}
    assert Columns.from_frame_mapping_or_parquet(table).has_columns_of_answers()
    assert not Columns.from_frame_mapping_or_parquet(
        dict.fromkeys(("task", "worker", "label"))
    ).has_columns_of_answers()
    made = answers(table | {"impossible": ["ship"]})
    assert made.typed_texts_at_rank(0).tolist() == ["80"] and made.typed_texts_at_rank(1).tolist() == ["12.5"]


def test_answers_survive_a_round_trip_through_a_table() -> None:
    made = answers(TYPED)
    back = answers(made.to_polars())
    assert back.to_polars().equals(made.to_polars())


def test_position_and_slot_are_stored() -> None:
    made = answers(TYPED | {"slot": [2, None, 0]})
    assert made.slot is not None and made.slot.tolist() == [2, -1, 0]
    assert made.where(np.array([True, False, True])).slot.tolist() == [2, 0]  # type: ignore[union-attr]
    assert answers(made.to_polars()).slot.tolist() == [2, -1, 0]  # type: ignore[union-attr]


def test_many_answers_are_read_fast() -> None:
    n = 50_000
    table = pl.DataFrame({"task": np.arange(n) % 100, "worker": np.arange(n), "top": ["x", "y"] * (n // 2)})
    made = answers(table.with_columns(top_percent=pl.lit("70"), never=pl.lit("y|z")))
    assert len(made) == n and made.mask_marked_labels_per_answer("never").sum() == 2 * n


def test_repeats_in_a_session_stored_twice_refer_to_the_same_copy() -> None:
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


def test_typed_text_without_a_label_survives_a_round_trip() -> None:
    table = {"task": ["a", "b"], "worker": ["w", "w"], "top": ["x", None], "top_percent": ["70", "20"]}
    made = answers(table | {"second": [None, "y"], "second_percent": ["p\\", "8p"]})
    assert made.label_codes_at_rank(0).tolist() == [0, -1] and made.label_codes_at_rank(1).tolist() == [-1, 1]
    back = answers(made.to_polars())
    assert back.typed_texts_at_rank(0).tolist() == ["70", "20"] and back.typed_texts_at_rank(1).tolist() == [
        "p\\",
        "8p",
    ]
    assert made.where(np.array([False, True])).typed_texts_at_rank(0).tolist() == ["20"]
    alone = answers({**table, "second_percent": ["30", ""]})
    assert alone.typed_texts_at_rank(1).tolist() == ["30", ""]


def test_a_second_label_without_a_first_stays_the_second() -> None:
    made = answers({"task": ["a"], "worker": ["w"], "top": [""], "top_percent": [""], "second": ["y"]})
    assert made.label_codes_at_rank(0).tolist() == [-1] and made.label_codes_at_rank(1).tolist() == [0]


def test_blanks_around_listed_labels_are_stripped() -> None:
    table = {"task": ["a"], "worker": ["w"], "top": ["x"], "top_percent": ["70"]}
    assert answers(table | {"never": [" y | z"]}).labels.tolist() == ["x", "y", "z"]
    spaced = answers(table | {"never": ['[" y", "z"]']})
    assert spaced.labels.tolist() == [" y", "x", "z"] and answers(spaced.to_polars()).labels.tolist() == [
        " y",
        "x",
        "z",
    ]


def test_the_value_that_means_no_label() -> None:
    table = {"task": ["a"], "worker": ["w"], "top": ["x"], "top_percent": ["70"], "second": ["none"]}
    assert answers(table, missing="none").labels.tolist() == ["x"]
    assert answers(table, missing=["none", "nothing"]).labels.tolist() == ["x"]


def test_booleans_may_be_written_in_many_ways() -> None:
    table = {"task": list("abc"), "worker": ["w"] * 3, "top": ["x"] * 3}
    assert answers(table | {"abstain": ["X", " Yes", None]}).abstain.tolist() == [True, True, False]  # type: ignore[union-attr]
    with pytest.raises(InputError, match="column 'abstain' of the table must contain yes or no; it contains 'maybe'"):
        answers(table | {"abstain": ["yes", "maybe", ""]})
