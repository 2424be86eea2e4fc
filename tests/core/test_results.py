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


def test_scores_need_one_value_per_name() -> None:
    with pytest.raises(InputError, match="value of the scores has 1 values for 2 names"):
        Scores("worker", WORKERS, np.ones(1), "made")
