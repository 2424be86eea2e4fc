"""Which columns of a survey are questions with common answers, and the labels in their cells."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

MIN_SHARED = 0.5  # share of the different answers to a question that another question of its group has, too
MAX_LABELS = 50  # more different answers are not a small set of labels in common
MIN_QUESTIONS = 2


def groups_of_questions(columns: Mapping[str, Sequence[Any]]) -> list[list[str]]:
    """Return groups of columns that have answers in common, the largest first; columns with answers of their own are in none.

    >>> groups_of_questions({"a": ["yes", "no"], "b": ["no", "no"], "age": ["20-30", "30-40"]})
    [['a', 'b']]
    """
    cells = labels_by_cell(columns)
    answers = {name: frozenset(label for labels in found for label in labels) for name, found in cells.items()}
    n_columns = Counter(answer for found in answers.values() for answer in found)
    common = {name: {one for one in found if n_columns[one] > 1} for name, found in answers.items()}
    questions = [name for name, found in answers.items() if found and len(common[name]) >= MIN_SHARED * len(found)]
    groups: list[tuple[list[str], set[str]]] = []
    for name in questions:
        joined = [group for group in groups if group[1] & common[name]]
        groups = [group for group in groups if not group[1] & common[name]]
        groups.append(
            ([one for group in joined for one in group[0]] + [name], set().union(common[name], *(g[1] for g in joined)))
        )
    order = list(columns)
    usable = [
        sorted(group, key=order.index)
        for group, _ in groups
        if len(group) >= MIN_QUESTIONS and len({label for name in group for label in answers[name]}) <= MAX_LABELS
    ]
    return sorted(usable, key=len, reverse=True)


def labels_by_cell(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[list[Any]]]:
    """Return the labels in each cell: one, or several of a list "cat, dog" whose parts are answers elsewhere; [] if empty.

    Numbers of a typed table that are whole become integers; in CSV all labels are text.

    >>> labels_by_cell({"a": [4.0, None], "b": [5.0, 4.0]}), labels_by_cell({"a": ["4"], "b": ["cat, 4"]})
    ({'a': [[4], []], 'b': [[5], [4]]}, {'a': [['4']], 'b': [['cat, 4']]})
    """
    texts = {name: [None if value is None else _text(value) for value in values] for name, values in columns.items()}
    whole = {text for found in texts.values() for text in found if text is not None}
    is_text = any(isinstance(value, str) for values in columns.values() for value in values)
    if whole and not is_text and all(text.lstrip("-").isdigit() for text in whole):
        return {name: [[] if text is None else [int(text)] for text in found] for name, found in texts.items()}
    parts = {text: _parts(text, whole) for text in whole}
    return {name: [[] if text is None else list(parts[text]) for text in found] for name, found in texts.items()}


def _parts(text: str, whole: set[str]) -> list[str]:
    """Return the answers in a text that lists several: all of its parts are answers of other people."""
    parts = list(dict.fromkeys(part.strip() for part in text.replace(";", ",").split(",") if part.strip()))
    return parts if len(parts) > 1 and all(part in whole for part in parts) else [text]


def _text(value: Any) -> str:
    """Return an answer as text: 4.0 is 4."""
    text = str(value).strip()
    return text.removesuffix(".0") if text.removesuffix(".0").lstrip("-").isdigit() else text
