"""Rows of inputs and their task names: what names the rows, which rows need no names, and errors."""

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.rows_by_task_name import rows_with_task_names, select_rows_of_tasks, weights_by_row

X = np.random.default_rng(0).normal(size=(60, 3))


def test_names_of_rows_are_checked() -> None:
    with pytest.raises(InputError, match="there are 60 rows in x for 59 tasks"):
        rows_with_task_names(X, range(59))
    with pytest.raises(InputError, match="tasks='name' names a column, but x is not a DataFrame"):
        rows_with_task_names(X, "name")
    with pytest.raises(InputError, match="x is a mapping, which names the task of each row"):
        rows_with_task_names({"a": [1.0]}, ["a"])
    for rows, said in (({}, "no row"), ({"a": [1.0], "b": [1.0, 2.0]}, r"\(1,\), \(2,\)")):
        with pytest.raises(InputError, match=f"x needs rows of one shape; it has {said}"):
            rows_with_task_names(rows)
    with pytest.raises(InputError, match="the rows of x name tasks twice: 'a'"):
        rows_with_task_names(X[:2], ["a", "a"])


def test_numbered_tasks_need_no_names_and_a_number_is_its_text() -> None:
    numbers = as_names(range(60))
    rows, place, _ = select_rows_of_tasks(X, numbers[::-1], owner="votes", all_tasks=numbers)
    np.testing.assert_array_equal(rows, X[::-1])
    assert place.tolist() == list(range(59, -1, -1))
    texts = as_names([str(i) for i in range(60)])  # text names: the order of "10" and "2" is not that of numbers
    with pytest.raises(InputError, match="cannot be known"):
        select_rows_of_tasks(X, texts, owner="votes", all_tasks=texts)
    np.testing.assert_array_equal(select_rows_of_tasks(X, texts, range(60), owner="votes", all_tasks=texts)[0], X)


@pytest.mark.parametrize("weight", [np.ones(4), np.ones(2), 1.0])
def test_rows_with_names_need_one_weight_each(weight: object) -> None:
    given = rows_with_task_names(np.eye(3), ["a", "b", "c"], "x")
    assert weights_by_row([1, 2, 3], given) == [1, 2, 3] and weights_by_row(None, given) is None
    with pytest.raises(InputError, match="for 3 rows; give one weight per row"):
        weights_by_row(weight, given)
