"""Questions of an Argilla data set: their kinds and labels, from the settings or from what people answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from plurivox.io.formats._argilla_responses import (
    LABEL,
    LABELLED,
    MULTI_LABEL,
    RANKING,
    RATING,
    SPAN,
    TEXT,
    Response,
    kind_of_value,
)

__all__ = ["LABELLED", "RATING", "Question", "kinds_of_questions", "label_names"]
KIND_OF_TYPE = {
    "label_selection": LABEL,
    "multi_label_selection": MULTI_LABEL,
    "dynamic_label_selection": LABEL,
    "dynamic_multi_label_selection": MULTI_LABEL,
    "rating": RATING,
    "ranking": RANKING,
    "span": SPAN,
    "text": TEXT,
}
MAX_LABEL_LENGTH = 60  # a longer answer is free text


@dataclass(frozen=True)
class Question:
    """A question of an Argilla data set."""

    name: str
    kind: str  # label, multi-label, rating, ranking, span or text
    labels: tuple[Any, ...] | None = None  # all labels in order, None if the settings are unknown


def kinds_of_questions(responses: Sequence[Response], settings: Mapping[str, Any] | None) -> dict[str, Question]:
    """Return {name: question} of all questions with answers; the settings of the data set say their kinds and labels.

    Without settings a question is of the kind that its answers show. Text answers are labels if they repeat and are short;
    lists that are all permutations of the same options are rankings.
    """
    by_name = sorted(responses, key=lambda one: one.question)
    values = {name: [one.value for one in group] for name, group in groupby(by_name, key=lambda one: one.question)}
    known = {
        one["name"]: one for one in (settings or {}).get("questions", ()) if isinstance(one, dict) and "name" in one
    }
    return {
        name: _question_of_settings(known[name], found) if name in known else Question(name, _kind_of_values(found))
        for name, found in values.items()
    }


def _question_of_settings(question: Mapping[str, Any], values: Sequence[Any]) -> Question:
    """Return a question as described in the settings of the data set."""
    about: Mapping[str, Any] = question["settings"] if isinstance(question.get("settings"), Mapping) else {}
    kind = KIND_OF_TYPE.get(str(about.get("type")), "") or _kind_of_values(values)
    options = about.get("options")
    labels = [one["value"] for one in options if "value" in one] if isinstance(options, list) else []
    return Question(question["name"], kind, tuple(labels) or None if kind in LABELLED else None)


def _kind_of_values(values: Sequence[Any]) -> str:
    """Return the kind of a question by its answers alone."""
    kinds = {kind_of_value(value) for value in values}
    if kinds == {LABEL} and _is_free_text(values):
        return TEXT
    if (
        kinds == {MULTI_LABEL}
        and len({frozenset(value) for value in values}) == 1
        and len(values[0]) > 1
        and len(values) > 1
    ):
        return RANKING
    return kinds.pop() if len(kinds) == 1 else TEXT


def _is_free_text(values: Sequence[str]) -> bool:
    """Return whether text answers are free text, not labels: some are long, or hardly any answer occurs twice."""
    long = any(len(value) > MAX_LABEL_LENGTH or "\n" in value for value in values)
    return long or (len(values) >= 6 and len(set(values)) > 0.7 * len(values))


def label_names(labels: Sequence[Any], question: Question) -> list[Any]:
    """Return labels with the types of the settings: a table may store the rating 4 as 4.0."""
    if question.kind == RATING:
        return [int(label) if isinstance(label, float) and label.is_integer() else label for label in labels]
    return list(labels)
