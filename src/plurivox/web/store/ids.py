"""Random ids, and their form in addresses."""

import re
import secrets

SHOWN = re.compile("[0-9a-f]{16}")


def new_id() -> int:
    """A random number that no one can guess, for what people name in addresses."""
    return secrets.randbits(62) | 1 << 61


def encode_id(number: int) -> str:
    """A number as addresses show it."""
    return f"{number:x}"


def decode_id(text: str) -> int:
    """The number behind it; -1 where there can be none."""
    number = int(text, 16) if SHOWN.fullmatch(text) else -1
    return number if number < 1 << 63 else -1
