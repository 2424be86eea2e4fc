"""Parse lists written as text, as pandas and numpy write them into CSV: "[0, 1, 1]", "[0 1 1]", "['a', 'b']", '["a"]'."""

import ast
import json
import re
from typing import Any

TOKEN = re.compile(r"""\s*(?:(?P<quoted>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?P<bare>[^\s,'"\[\]]+))\s*,?""")
MISSING = ("None", "nan", "NaN", "null", "<NA>", "NA")
WORDS = {"True": True, "False": False, "true": True, "false": False}


def is_list_text(value: Any) -> bool:
    """Return whether a value is text in square brackets.

    >>> [is_list_text(value) for value in ("[0, 1]", " ['a' 'b']", "[x", 3)]
    [True, True, False, False]
    """
    return isinstance(value, str) and value.strip()[:1] == "[" and value.strip()[-1:] == "]"


def parse_list_text(text: str) -> list[Any] | None:
    """Return the list written in a text, with or without commas; missing values are None. Return None if it is not a list.

    >>> parse_list_text("[0, 1, 1]"), parse_list_text("['a' 'b, c']"), parse_list_text("[1.  nan]"), parse_list_text("[]")
    ([0, 1, 1], ['a', 'b, c'], [1.0, None], [])
    """
    if not is_list_text(text):
        return None
    inner = text.strip()[1:-1]
    if "{" in inner or "[" in inner:
        return _parse_nested(text)
    values, at = [], 0
    while inner[at:].strip():
        token = TOKEN.match(inner, at)
        if token is None:
            return None
        values.append(_value_of_token(token))
        at = token.end()
    return values


def _value_of_token(token: re.Match[str]) -> Any:
    """Return one value of a list: quoted text, a number, a boolean, None if it is missing, or a word."""
    if quoted := token["quoted"]:
        try:
            return ast.literal_eval(quoted)
        except (SyntaxError, ValueError):
            return quoted[1:-1]
    bare = token["bare"]
    if bare in MISSING:
        return None
    if bare in WORDS:
        return WORDS[bare]
    for kind in (int, float):
        try:
            return kind(bare)
        except ValueError:
            continue
    return bare


def _parse_nested(text: str) -> list[Any] | None:
    """Return a list of objects or lists written as JSON or as Python writes it; None if it is neither."""
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(text.strip())
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return found if isinstance(found, list) else None
    return None
