"""Responses of Argilla: one person's answer to one question about one record, and the labels in it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

LABEL, MULTI_LABEL, RATING, RANKING, SPAN, TEXT = "label", "multi-label", "rating", "ranking", "span", "text"
LABELLED = (LABEL, MULTI_LABEL, RATING, RANKING)  # kinds of questions whose answers can be votes


@dataclass(frozen=True)
class Response:
    """One person's answer to one question about one record."""

    record: int  # number of the record, from 0
    question: str
    value: Any  # text, a number, or a list of texts or of objects
    user: Any
    status: str | None  # submitted, draft or discarded; None if the export does not say


def kind_of_value(value: Any) -> str:
    """Return the kind of question that a value answers, as far as it can be seen in the value.

    >>> kind_of_value("spam"), kind_of_value(4), kind_of_value(["a", "b"]), kind_of_value([{"value": "a", "rank": 1}])
    ('label', 'rating', 'multi-label', 'ranking')
    """
    if isinstance(value, int | float):
        return RATING
    if _is_columnar(value):
        return RANKING if "rank" in value else SPAN
    if isinstance(value, list):
        if not any(isinstance(one, Mapping) for one in value):
            return MULTI_LABEL
        return SPAN if any("start" in one for one in value) else RANKING
    return LABEL if isinstance(value, str) else TEXT


def labels_of_response(value: Any, kind: str) -> list[Any]:
    """Return the labels in an answer: one, several, or the first of a ranking (those that share the first rank)."""
    if kind == MULTI_LABEL and isinstance(value, list):
        return list(dict.fromkeys(value))
    if kind == RANKING and _is_columnar(value):  # Hugging Face stores a list of objects as an object of lists
        value = [{"value": one, "rank": rank} for one, rank in zip(value["value"], value["rank"], strict=True)]
    if kind == RANKING and isinstance(value, list) and value:
        if not isinstance(value[0], Mapping):
            return [value[0]]
        first = min((one["rank"] for one in value if one.get("rank") is not None), default=None)
        return [one["value"] for one in value if one.get("rank") == first] if first is not None else [value[0]["value"]]
    return [] if isinstance(value, list | dict) else [value]


def _is_columnar(value: Any) -> bool:
    """Return whether a value is an object of lists, such as {"rank": [1, 2], "value": ["a", "b"]}."""
    return isinstance(value, Mapping) and all(isinstance(one, list) for one in value.values()) and bool(value)
