"""Names keep their meaning, and meet across kinds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from made import NAMES
from plurivox.core.errors import InputError
from plurivox.core.names import as_names, by_value, duplicates, encode, positions


@given(NAMES)
def test_encode_gives_back_every_value_in_sorted_names(values: list) -> None:
    codes, names = encode(values)
    assert names[codes].tolist() == values and names.tolist() == sorted(values)


@given(NAMES, st.randoms())
def test_positions_find_what_is_there(values: list, chance: object) -> None:
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
    ],
)
def test_a_number_and_its_text_are_the_same_name(names: list, wanted: list, found: list) -> None:
    assert positions(as_names(names), as_names(wanted)).tolist() == found


def test_odd_texts_stay_apart() -> None:
    odd = ["", "a\0", "a", " a", "é", "e\u0301", "😀"]
    codes, names = encode(odd)
    assert names[codes].tolist() == odd and len(names) == len(odd)


def test_duplicates_and_order_by_value() -> None:
    assert duplicates(as_names(["b", "a", "b"])).tolist() == ["b"]
    assert by_value(as_names(["-5", "10", "2"])).tolist() == ["-5", "2", "10"]


@pytest.mark.parametrize("bad", [[None, "a"], [1, "a"], [2**63], [float("nan")], [[1]], [object()]])
def test_what_is_no_name_is_refused(bad: list) -> None:
    with pytest.raises(InputError):
        as_names(bad)
    with pytest.raises(InputError):
        as_names(np.array(bad, dtype=object) if bad != [[1]] else np.array(bad))
