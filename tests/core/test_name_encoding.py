"""Encoding of names as codes, and matching of names across types."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowds import NAMES
from plurivox.core.errors import InputError
from plurivox.core.name_encoding import (
    as_names,
    decode,
    distinct_names,
    duplicates,
    encode,
    positions,
    sort_distinct_names_by_value,
    sorted_names,
)
from plurivox.core.votes import Votes
from plurivox.train.data import splits


@given(NAMES)
def test_encode_round_trip_with_sorted_names(values: list) -> None:
    codes, names = encode(values)
    assert names[codes].tolist() == values and names.tolist() == sorted(values)


@given(NAMES, st.randoms())
def test_positions_of_present_and_absent_names(values: list, rng: object) -> None:
    names = as_names(values)
    wanted = names[::-1]
    assert positions(names, wanted).tolist() == list(range(len(values)))[::-1]
    assert (positions(names[:0], wanted) == -1).all()


@pytest.mark.parametrize(
    ("names", "wanted", "found"),
    [
        ([1, 2], ["2", "02", "x"], [1, -1, -1]),
        ([True, False], ["false", "True"], [1, 0]),
        ([1.0, 2.5], [1, 2], [0, -1]),
        (["1", "2"], [2, 1], [1, 0]),
        (["1", "2.0", "2.5", "03"], [1.0, 2.0, 2.5, 3.0], [0, 1, 2, -1]),
        ([1.0, 2.5], ["1", "1.0", "2.5", "01"], [0, 0, 1, -1]),
        (["1", "1.0"], [1.0], [1]),
        ([2**53, 2**53 + 1], [2.0**53], [0]),
        ([0.5, 2.0**53, float("inf")], [2**53 + 1, 2**53], [-1, 1]),
    ],
)
def test_a_number_and_its_text_are_the_same_name(names: list, wanted: list, found: list) -> None:
    assert positions(as_names(names), as_names(wanted)).tolist() == found


def test_texts_that_look_like_the_same_number_differ() -> None:
    odd = ["", "a\0", "a", " a", "é", "e\u0301", "😀"]
    codes, names = encode(odd)
    assert names[codes].tolist() == odd and len(names) == len(odd)


def test_duplicates_and_order_by_value() -> None:
    assert duplicates(as_names(["b", "a", "b"])).tolist() == ["b"]
    assert sort_distinct_names_by_value(as_names(["-5", "10", "2"])).tolist() == ["-5", "2", "10"]


def test_decode_of_minus_one_is_none() -> None:
    assert decode(as_names(["a"]), np.array([0, 0])).dtype == as_names(["a"]).dtype
    assert decode(as_names([]), np.array([-1])).tolist() == [None]


def test_mixed_ints_and_floats_stay_distinct_or_raise() -> None:
    assert as_names([1.5, 2**53, 2**60]).tolist() == [1.5, 2.0**53, 2.0**60]
    with pytest.raises(InputError, match=f"too large for a float: {2**53 + 1};"):
        as_names([1.5, 2**53, 2**53 + 1])
    with pytest.raises(InputError, match="too large for a float"):
        as_names([1.5, 10**400])


@pytest.mark.parametrize("number", [2**63, -(2**63) - 1])
def test_integers_beyond_64_bits_raise_input_error(number: int) -> None:
    with pytest.raises(InputError, match=rf"{number}: integers must be between -2\*\*63 and 2\*\*63 - 1"):
        as_names([number])
    assert as_names([-(2**63), 2**63 - 1]).tolist() == [-(2**63), 2**63 - 1]


@pytest.mark.parametrize("values", [["a", "\ud800"], np.array(["a", "\ud800"]), np.array(["a", "\ud800"], object)])
def test_invalid_unicode_raises_input_error(values: Any) -> None:
    with pytest.raises(InputError, match="not valid Unicode"):
        as_names(values)


@pytest.mark.parametrize("bad", [[None, "a"], [1, "a"], [2**63], [float("nan")], [[1]], [object()]])
def test_values_that_are_not_names_raise_input_error(bad: list) -> None:
    with pytest.raises(InputError):
        as_names(bad)
    with pytest.raises(InputError):
        as_names(np.array(bad, dtype=object) if bad != [[1]] else np.array(bad))


def two_sorted_lists_joined() -> list[str]:
    """Return names in an order for which numpy's default sort of StringDType crashes the process (numpy 2.4)."""
    order = np.random.default_rng(1).permutation(1000)
    return [f"name_of_a_task_{i:06d}" for i in [*np.sort(order[:500]), *np.sort(order[500:])]]


def test_names_of_any_order_can_be_sorted() -> None:
    values = two_sorted_lists_joined()
    names = as_names(values)
    assert sorted_names(names).tolist() == distinct_names(names).tolist() == sorted(values)
    assert encode(names)[1].tolist() == sorted(values)
    assert Votes.of(values, ["w"] * 1000, ["x"] * 1000).tasks.tolist() == sorted(values)
    for fold in splits.folds(values, 3):
        assert fold["train"].tolist() == sorted(fold["train"].tolist())
