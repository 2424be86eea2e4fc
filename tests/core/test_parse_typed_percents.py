import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from plurivox.core.name_encoding import as_names
from plurivox.core.parse_typed_percents import (
    EMPTY,
    FRACTION,
    OUT_OF_RANGE,
    PERCENT_FLAGS,
    REPAIRED,
    UNREADABLE,
    parse_percents,
)

READ = {
    "70": (70, 0),
    "0": (0, 0),
    "00": (0, 0),
    "05": (5, 0),
    "100": (100, 0),
    " 80": (80, 0),
    "70%": (70, 0),
    "70 ％": (70, 0),
    "70 Percent": (70, 0),
    "+70": (70, 0),
    "70.": (70, 0),
    "70.0": (70, 0),
    "٧٠": (70, 0),
    "７０": (70, 0),
    "8p": (80, REPAIRED),
    "9O": (90, REPAIRED),
    "1op": (100, REPAIRED),
    "1e2": (100, REPAIRED),
    "70,5": (70.5, FRACTION),
    ".7": (0.7, FRACTION),
    "٧٠٫٥": (70.5, FRACTION),
    "-5": (-5, OUT_OF_RANGE),
    "−5": (-5, OUT_OF_RANGE),
    "-0": (0, 0),
    "999": (999, OUT_OF_RANGE),
    "1,000": (1000, OUT_OF_RANGE | REPAIRED),
    "0,125": (0.125, FRACTION),
    "100.5": (100.5, OUT_OF_RANGE | FRACTION),
    "": (math.nan, EMPTY),
    " \t": (math.nan, EMPTY),
    "%": (math.nan, UNREADABLE),
    "70p": (math.nan, UNREADABLE),
    "p\\\\": (math.nan, UNREADABLE),
    "nan": (math.nan, UNREADABLE),
    "inf": (math.nan, UNREADABLE),
    "1e999": (math.nan, UNREADABLE),
    "1_0": (math.nan, UNREADABLE),
    "70-80": (math.nan, UNREADABLE),
    "1,000.5": (math.nan, UNREADABLE),
    "²": (math.nan, UNREADABLE),
    "½": (math.nan, UNREADABLE),
}


@pytest.mark.parametrize("text", READ)
def test_value_and_flags_of_a_typed_text(text: str) -> None:
    read = parse_percents(as_names([text]))
    np.testing.assert_equal((read.value[0], read.flags[0]), READ[text])


def test_counts_and_flags_by_name() -> None:
    read = parse_percents(as_names(["70", "", "x", "8p", ""]))
    assert read.count_percents_by_flag() == {"empty": 2, "unreadable": 1, "repaired": 1}
    assert read.mask_percents_with_flag("empty").tolist() == [False, True, False, False, True]
    assert len(parse_percents(as_names([]))) == 0


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])) | st.floats().map(str)))
def test_any_text_is_a_number_or_flagged(texts: list[str]) -> None:
    read = parse_percents(as_names(texts))
    unread = np.isnan(read.value)
    assert (unread == ((read.flags & (EMPTY | UNREADABLE)) > 0)).all()
    assert not np.isinf(read.value).any()
    outside = (read.value < 0) | (read.value > 100)
    assert (outside == read.mask_percents_with_flag("out-of-range")).all()
    assert (read.flags < 2 * max(PERCENT_FLAGS.values())).all()


@given(st.lists(st.text("017 %p\0é٧", max_size=5)))
def test_a_text_is_parsed_the_same_alone_and_among_others(texts: list[str]) -> None:
    with patch("plurivox.core.parse_typed_percents.MIN_TABLE_TEXTS", 0):
        read = parse_percents(as_names(texts))
    alone = [parse_percents(as_names([text])) for text in texts]
    np.testing.assert_array_equal(read.value, [one.value[0] for one in alone])
    np.testing.assert_array_equal(read.flags, [one.flags[0] for one in alone])
