"""Random ids that cannot be guessed, and their hexadecimal form in URLs."""

import re
import secrets

ID_PATTERN = re.compile("[0-9a-f]{16}")


def random_62_bit_id() -> int:
    """Return a random 62-bit id, for rows that appear in URLs."""
    return secrets.randbits(62) | 1 << 61


def encode_id(row_id: int) -> str:
    """Return the id of a row as 16 hexadecimal digits, the form used in URLs."""
    return f"{row_id:x}"


def decode_id(text: str) -> int:
    """Return the integer id that 16 hexadecimal digits of a URL encode; -1 if the text is not of that form."""
    number = int(text, 16) if ID_PATTERN.fullmatch(text) else -1
    return number if number < 1 << 63 else -1
