"""Cells of tables as text, and the numbers that rows are sorted by."""

import numpy as np
import pytest

from plurivox.workflows.report.page_content import Cell, Column, ColumnKind
from plurivox.workflows.report.table_cells import shown_cell

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("value", "kind", "digits", "text"),
    [
        (None, "number", None, "-"),
        (NAN, "percent", None, "-"),
        (None, "text", None, "-"),
        (None, "flag", None, ""),
        ("few votes", "flag", None, "few votes"),
        (1234567, "number", None, "1,234,567"),
        (-1234.567, "number", 1, "−1,234.6"),
        (-0.001, "number", None, "0.00"),
        (np.float64(12.0), "number", 0, "12"),
        (np.int64(-3), "number", None, "−3"),
        (INF, "number", None, "∞"),
        (-INF, "percent", None, "−∞"),
        (0.0, "percent", None, "0%"),
        (1.0, "percent", None, "100%"),
        (0.004, "percent", None, "<1%"),
        (0.9999, "percent", 1, ">99.9%"),
        (12.5, "percent", None, "1,250%"),
        (-0.25, "percent", None, "−25%"),
        ("a text", "number", None, "a text"),
        (3, "text", None, "3"),
        (True, "text", None, "yes"),
    ],
)
def test_a_value_as_text(value: Cell, kind: ColumnKind, digits: int | None, text: str) -> None:
    assert shown_cell(value, Column("c", kind, digits=digits)).text == text


def test_rounded_numbers_are_sorted_by_what_is_behind_them() -> None:
    percent, number = Column("a", "percent"), Column("a", "number")
    assert [shown_cell(one, percent).sort_key for one in (0.12345, 0.25)] == ["12.345", ""]
    assert float(shown_cell(1 - 1e-12, percent).sort_key) < 100 and float(shown_cell(1e-12, percent).sort_key) > 0
    assert [shown_cell(one, number).sort_key for one in (7, 0.126, 0.5)] == ["", "0.126", ""]
    assert [shown_cell(one, number).sort_key for one in (INF, -INF)] == ["Infinity", "-Infinity"]
    assert shown_cell("a", number).numeric is False and shown_cell(None, number).numeric is True


def test_missing_values_and_empty_texts_are_missing() -> None:
    assert [shown_cell(one, Column("a")).missing for one in (None, NAN, "", " ", "x", 0)] == [True] * 4 + [False] * 2
