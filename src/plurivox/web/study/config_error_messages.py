"""Error messages for mistakes in study.toml, from pydantic's validation errors."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Any

MESSAGES = {  # by pydantic's error type
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
    "dict_type": "must be a section, with name = value below it",
    "model_type": "must be a section, with name = value below it",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "literal_error": "must be {expected}",
}
PATTERNS = {  # by the last name of the location
    "name": "can only contain letters, digits and . _ - (a new study gets the name of its folder)",
    "frame_ancestors": "must contain https:// addresses without a path",
}


def config_error_message(pydantic_error: Mapping[str, Any], valid_names: Iterable[str]) -> str:
    """Return a message for a mistake in study.toml from a pydantic error; a misspelt name suggests one of `valid_names`.

    >>> config_error_message({"type": "extra_forbidden", "loc": ("per_tsk",), "msg": "", "input": 6}, ["per_task", "batch"])
    'unknown name per_tsk; did you mean per_task?'
    >>> config_error_message({"type": "int_parsing", "loc": ("batch",), "msg": "", "input": "ten"}, [])
    "batch must be a whole number; it is 'ten'"
    """
    place = ".".join(map(str, pydantic_error["loc"]))
    kind, about = pydantic_error["type"], pydantic_error.get("ctx", {})
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(str(pydantic_error["loc"][-1]), list(valid_names), n=1)
        return f"unknown name {place}; " + (f"did you mean {near[0]}?" if near else "remove the line")
    if kind == "string_pattern_mismatch":
        names = [name for name in pydantic_error["loc"] if isinstance(name, str)]
        rule = PATTERNS.get(names[-1], "contains characters that are not allowed")
        return f"{place} {rule}; it is {_repr_cut_to_60_characters(pydantic_error['input'])}"
    if kind in MESSAGES:
        value = "" if kind == "missing" else f"; it is {_repr_cut_to_60_characters(pydantic_error['input'])}"
        return f"{place} {MESSAGES[kind].format(**about)}{value}"
    return ": ".join(filter(None, [place, pydantic_error["msg"].removeprefix("Value error, ")]))


def _repr_cut_to_60_characters(value: Any) -> str:
    """Return repr(value), cut to 60 characters."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
