"""Mistakes in study.toml, in the words of the person who edits it."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

PLAIN = {
    "missing": "is missing",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be text in quotes",
    "list_type": 'must be a list, such as ["cat", "dog"]',
    "dict_type": "must be a part of its own, with name = value below it",
    "model_type": "must be a part of its own, with name = value below it",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must hold at least {min_length}",
    "too_long": "must hold at most {max_length}",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "literal_error": "must be {expected}",
}
PATTERNS = {  # by the last word of the place
    "name": "must be of letters, digits, and . _ - (it is the folder's name when the study is made)",
    "frame_ancestors": "must be https:// addresses without a path",
}


def told(mistake: Mapping[str, Any], known: Iterable[str]) -> str:
    """One mistake that pydantic found, with its place; `known` are the names that study.toml may hold.

    >>> told({"type": "extra_forbidden", "loc": ("per_tsk",), "msg": "", "input": 6}, ["per_task", "batch"])
    'there is no per_tsk; did you mean per_task?'
    >>> told({"type": "int_parsing", "loc": ("batch",), "msg": "", "input": "ten"}, [])
    "batch must be a whole number; it is 'ten'"
    """
    place = ".".join(map(str, mistake["loc"]))
    kind, about = mistake["type"], mistake.get("ctx", {})
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(mistake["loc"][-1]), list(known), n=1)
        return f"there is no {place}; " + (f"did you mean {near[0]}?" if near else "take the line out")
    if kind == "string_pattern_mismatch":
        words = [word for word in mistake["loc"] if isinstance(word, str)]
        return f"{place} {PATTERNS.get(words[-1], 'holds letters it cannot have')}; it is {_short(mistake['input'])}"
    if kind in PLAIN:
        value = "" if kind == "missing" else f"; it is {_short(mistake['input'])}"
        return f"{place} {PLAIN[kind].format(**about)}{value}"
    return ": ".join(filter(None, [place, mistake["msg"].removeprefix("Value error, ")]))


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
