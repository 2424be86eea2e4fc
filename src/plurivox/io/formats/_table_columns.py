"""Columns of another program's table as lists, and what readers ask of them: numbers, traits, which question has the labels."""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from plurivox.io.formats._annotations import NAN, RARE
from plurivox.io.tabular.table_files import Columns
from plurivox.io.tabular.usual_column_names import USUAL_NAMES

ID_NAME = re.compile(r"(?i:[._\- ]id)$|[a-z]I[dD]$")  # image_id, imageId
DIFFERENT = 0.9  # a question with at least this share of different answers is a text field
MIN_ANSWERS = 5  # of which this many are needed to tell


@cache
def usual_names(role: str, n_lines: int | None = None) -> frozenset[str]:
    """Return the usual names of the columns with a role (task, worker, label): all, or the first `n_lines` groups."""
    return frozenset(name for line in USUAL_NAMES[role][:n_lines] for name in line)


def columns_as_lists(table: Columns) -> dict[str, list[Any]]:
    """Return {column: values} of a table; empty text is None."""
    return {name: [None if value == "" else value for value in table[name].to_list()] for name in table.names}


def number_or_nan(value: Any) -> float:
    """Return a number, also one written as text, as a float; NaN if it is missing or not a number."""
    try:
        return NAN if value is None else float(value)
    except ValueError:
        return NAN


def constant_columns_by_name(
    names: Sequence[Any], columns: Mapping[str, Sequence[Any]], rows: Iterable[int] | None = None
) -> dict[Any, dict[str, Any]]:
    """Return {name: {column: value}} of the columns that have one value per name; a column with several is left out.

    >>> constant_columns_by_name(["a", "a"], {"city": ["Rome", "Rome"], "n": [1, 2]})
    {'a': {'city': 'Rome'}}
    """
    used = list(range(len(names)) if rows is None else rows)
    found: dict[Any, dict[str, Any]] = {names[row]: {} for row in used}
    for column, values in columns.items():
        one: dict[Any, Any] = {}
        for row in used:
            if values[row] is not None and one.setdefault(names[row], values[row]) != values[row]:
                break
        else:
            for name, fields in found.items():
                fields[column] = one.get(name)
    return found


def column_that_differs_between_inputs(inputs: Mapping[str, Sequence[Any]]) -> str | None:
    """Return the column that has a value of its own for every combination of inputs, an id if there is one; else None.

    >>> column_that_differs_between_inputs({"text": ["A", "B", "A"], "image_id": [1, 2, 1], "page": [7, 7, 7]})
    'image_id'
    """
    n_inputs = len(set(zip(*inputs.values(), strict=True))) if inputs else 0
    keys = [name for name, values in inputs.items() if None not in values and len(set(values)) == n_inputs > 0]
    return min(keys, key=lambda name: (not ID_NAME.search(name), keys.index(name)), default=None)


def leave_out_text_and_rare_questions(
    labels_by_question: Mapping[str, Sequence[Sequence[Any]]], named: str | None
) -> tuple[list[str], list[str]]:
    """Return (questions whose answers can be labels, the others) of several: not text fields, nor those that few answered.

    `labels_by_question` has the labels of each row. All questions are returned if one is named, or if none would be left.
    """
    questions = list(labels_by_question)
    if named is not None or len(questions) < 2:
        return questions, [one for one in questions if named is not None and one != named]
    share = {one: sum(map(bool, rows)) / max(len(rows), 1) for one, rows in labels_by_question.items()}
    likely = [
        one
        for one, rows in labels_by_question.items()
        if not _are_nearly_all_different(rows) and share[one] >= RARE * max(share.values())
    ]
    return (likely, [one for one in questions if one not in likely]) if likely else (questions, [])


def questions_of_labels_and_others(
    labels_by_question: Mapping[str, Sequence[Sequence[Any]]], named: str | None
) -> tuple[list[str], list[str]]:
    """Return (questions whose answers can be labels, the others); ratings are among the others if one question is left.

    >>> questions_of_labels_and_others({"mood": [["sad"], ["glad"]], "sure": [["3"], ["5"]]}, None)
    (['mood'], ['sure'])
    """
    likely, others = leave_out_text_and_rare_questions(labels_by_question, named)
    choices = [one for one in likely if not is_rating(labels_by_question[one])]
    if named is not None or len(choices) != 1:
        return likely, others
    return choices, [one for one in labels_by_question if one != choices[0]]


def is_rating(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether all answers to a question are numbers, other than 0 and 1, which stand for no and yes."""
    given = [label for labels in rows for label in labels if label is not None]
    numbers = {number_or_nan(label) for label in given if not isinstance(label, bool)}
    return bool(given) and all(number == number for number in numbers) and not numbers <= {0, 1}


def _are_nearly_all_different(rows: Sequence[Sequence[Any]]) -> bool:
    """Return whether hardly two rows have the same answer."""
    given = [tuple(labels) for labels in rows if labels]
    return len(given) >= MIN_ANSWERS and len(set(given)) >= DIFFERENT * len(given)
