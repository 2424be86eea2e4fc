"""Checks of Confusion and Scores."""

from typing import Any

import numpy as np
import pytest

from plurivox.core.errors import InputError
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Confusion, Scores

WORKERS, LABELS = as_names(["ann", "bo"]), as_names(["no", "yes"])


@pytest.mark.parametrize(
    ("rows", "which", "words"),
    [
        ([[0.5, 0.4], [0, 1]], [0, 0], "1 do not, such as that of 'no' in matrix 0 with the sum 0.9"),
        ([[1.5, -0.5], [0, 1]], [0, 0], "0 or more"),
        ([[1, 0], [np.nan, 1]], [0, 0], "that of 'yes'"),
        ([[1, 0], [0, 0]], [0, 0], "with the sum 0"),
        ([[1, 0], [0, 1]], [0], "2 workers need one number each"),
        ([[1, 0], [0, 1]], [0, 1], "from 0 to 0"),
        ([[1, 0], [0, 1]], [0, -1], "from 0 to 0"),
        ([[1, 0], [0, 1]], [0, 0.5], "whole numbers"),
        ([[1, 0], [0, 1]], None, "1 matrices for 2 workers"),
    ],
)
def test_invalid_confusion_matrices_raise_input_error(rows: list[Any], which: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Confusion(np.array([rows], float), WORKERS, LABELS, None if which is None else np.array(which))


def test_scores_need_one_number_per_name() -> None:
    with pytest.raises(InputError, match="badness of the scores has 1 values for 2 names"):
        Scores("worker", WORKERS, np.ones(2), np.ones(1), "made")


def test_value_says_what_replaced_it() -> None:
    scores = Scores("worker", WORKERS, np.array([0.2, 0.9]), np.array([0.8, 0.1]), "made")
    with pytest.raises(
        AttributeError, match=r"`raw` for the published number.*`badness`, higher is worse, for ranking"
    ):
        _ = scores.value
    assert scores.worst(1).tolist() == ["ann"] and list(scores.columns()) == ["worker", "raw", "badness"]


def read_as_version_one(**fields: Any) -> Scores:
    """Return the scores that a file of version 1 with these fields is read as."""
    columns = {name: np.array(column, float) for name, column in fields.items()}
    names = as_names([f"w{i}" for i in range(len(columns["value"]))])
    return Scores(**Scores.upgrade(1, {"of": "worker", "names": names, "made_by": "made", "n": None, **columns}))


@pytest.mark.parametrize(
    ("fields", "low", "high"),
    [
        ({"raw": [0.7], "value": [0.3], "low": [0.1], "high": [0.4]}, [0.6], [0.9]),  # 1 - raw
        ({"raw": [2.0, -1], "value": [-2.0, 1], "low": [-3.0, 0], "high": [-1.0, 2]}, [1.0, -2], [3.0, 0]),  # -raw
        ({"raw": [0.3, 0.4], "value": [0.3, 0.4], "low": [0.1, 0.2], "high": [0.5, 0.6]}, [0.1, 0.2], [0.5, 0.6]),
        ({"raw": [5, 6, np.nan], "value": [2, 1, np.nan], "low": [1, 0, 0], "high": [3, 2, 1]}, [4, 5, 6], [6, 7, 7]),
        (
            {"raw": [4, 2, 0], "value": [0, 0.5, 1], "low": [0, 0.3, 0.9], "high": [0.1, 0.6, 1]},
            [3.6, 1.6, 0],
            [4, 2.8, 0.4],
        ),
        ({"raw": [5, 6, 9], "value": [2, 1, 3], "low": [1, 0, 0], "high": [3, 2, 4]}, None, None),  # no line
        ({"raw": [5], "value": [2], "low": [1], "high": [3]}, None, None),  # any line fits one point
        ({"value": [0.5, 0.2], "low": [0.4, 0.1], "high": [0.6, 0.3]}, [0.4, 0.1], [0.6, 0.3]),  # without raw
        ({"raw": [5, 6], "value": [2, 1]}, None, None),
    ],
)
def test_the_interval_of_an_old_file_becomes_that_of_raw(fields: dict[str, Any], low: Any, high: Any) -> None:
    scores = read_as_version_one(**fields)
    np.testing.assert_array_equal(scores.badness, fields["value"])
    np.testing.assert_array_equal(scores.raw, fields.get("raw", fields["value"]))
    for found, wanted in ((scores.low, low), (scores.high, high)):
        assert (found is None) == (wanted is None)
        if found is not None:
            np.testing.assert_allclose(found, wanted, atol=1e-12)
