"""Parse the columns Answer.* of Mechanical Turk: form fields, crowd HTML elements, and the JSON in Answer.taskAnswers.

An HTML field is one column (`Answer.sentiment`; several ticked boxes are joined by `|`). Radio buttons and boxes of a
crowd-form are one column of true/false per option (`Answer.sentiment.Positive`), a crowd-classifier has
`Answer.sentiment.label`.
"""

import json
from collections import Counter
from typing import Any

from plurivox.core.errors import first_few
from plurivox.io.formats._list_texts import parse_list_text

ANSWER_PREFIX = "Answer."
TASK_ANSWERS = "taskAnswers"  # JSON: a list with one object {question: value} per assignment
LABEL_KEYS = ("label", "labels")  # of a crowd-classifier, and of one with several labels
NOTHING_ENTERED = ("", "{}")  # Mechanical Turk writes {} for an empty text field
BOOLEAN_TEXT = {"true": True, "false": False}

Questions = dict[str, list[list[Any]]]  # question -> labels chosen in each assignment


def parse_answer_columns(columns: dict[str, list[Any]]) -> tuple[Questions, str]:
    """Return the labels chosen in each assignment by question, and a text on answers that are not labels, such as boxes."""
    n = len(next(iter(columns.values()), []))
    values: list[dict[str, Any]] = [{} for _ in range(n)]  # per assignment: question -> value as in taskAnswers
    for column, cells in columns.items():
        name = column.removeprefix(ANSWER_PREFIX)
        question, _, part = name.partition(".")
        is_option = bool(part) and part not in LABEL_KEYS and _are_booleans(cells)
        for value, cell in zip(values, cells, strict=True):
            if cell is None or str(cell).strip() in NOTHING_ENTERED:
                continue
            if name == TASK_ANSWERS:
                value.update(_first_object(cell))
            elif is_option:
                value.setdefault(question, {})[part] = _is_true(cell)
            elif part in LABEL_KEYS:
                value[question] = {part: cell}
            else:
                value[name] = cell
    found: Questions = {}
    unreadable: Counter[str] = Counter()
    for row, value in enumerate(values):
        for question, entered in value.items():
            labels = _labels_of_value(question, entered)
            if labels is None:
                unreadable[question] += 1
            else:
                found.setdefault(question, [[] for _ in range(n)])[row] = labels
    found = {question: labels for question, labels in found.items() if any(labels)}
    return found, f"answers that are not labels to {first_few(unreadable)}" if unreadable else ""


def _are_booleans(cells: list[Any]) -> bool:
    """Return whether all cells that are not empty are true or false."""
    return all(cell is None or cell == "" or str(cell).lower() in BOOLEAN_TEXT for cell in cells)


def _is_true(cell: Any) -> bool:
    return BOOLEAN_TEXT[str(cell).lower()]


def _first_object(cell: Any) -> dict[str, Any]:
    """Return the object in a cell of taskAnswers; {} if there is none."""
    try:
        contents = json.loads(str(cell))
    except ValueError:
        return {}
    first = contents[0] if isinstance(contents, list) and contents else contents
    return first if isinstance(first, dict) else {}


def _labels_of_value(question: str, value: Any) -> list[Any] | None:
    """Return the labels in the value of a question; [] if nothing is chosen, None if the value is not made of labels."""
    if isinstance(value, dict) and len(value) == 1 and next(iter(value)) in LABEL_KEYS:
        value = next(iter(value.values()))
        if isinstance(value, str) and value.startswith("["):
            value = parse_list_text(value)
    elif isinstance(value, dict) and set(value) == {question}:
        return [str(value[question]).lower()]  # one box, which is ticked or not: the labels are true and false
    elif isinstance(value, dict) and value and all(isinstance(one, bool) for one in value.values()):
        return [option for option, is_chosen in value.items() if is_chosen]
    if isinstance(value, bool):
        return [str(value).lower()]
    if isinstance(value, str):
        value = [part.strip() for part in value.split("|") if part.strip()]
    if isinstance(value, int | float):  # pandas makes decimals of whole numbers in a column with empty cells
        return [int(value) if float(value).is_integer() else value]
    if isinstance(value, list) and all(isinstance(one, str | int | float) for one in value):
        return list(dict.fromkeys(value))
    return None
