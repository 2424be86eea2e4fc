"""Random ids that cannot be guessed, and their hexadecimal form in URLs."""

import re
import secrets

ID_PATTERN = re.compile("[0-9a-f]{16}")


def new_id() -> int:
    """Return a random 62-bit id, for rows that appear in URLs."""
    return secrets.randbits(62) | 1 << 61


def encode_id(number: int) -> str:
    """Return an id as URLs contain it: 16 hexadecimal digits."""
    return f"{number:x}"


def decode_id(text: str) -> int:
    """Return the id of a text made by `encode_id`; -1 if it is not such a text."""
    number = int(text, 16) if ID_PATTERN.fullmatch(text) else -1
    return number if number < 1 << 63 else -1
