"""Parse percents as people type them ("70", "70 %", "8p", nothing); problems are flagged, never errors."""

import math
import re
from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.core.name_encoding import as_names

EMPTY, UNREADABLE, OUT_OF_RANGE, REPAIRED, FRACTION = 1, 2, 4, 8, 16
PERCENT_FLAGS = {
    "empty": EMPTY,
    "unreadable": UNREADABLE,
    "out-of-range": OUT_OF_RANGE,
    "repaired": REPAIRED,
    "fraction": FRACTION,
}

# digits of any script, a point or a comma; not what only Python reads as a number ("nan", "1_0", "inf")
NUMBER = re.compile(r"([+\-−]?)(\d+(?:[.,٫]\d*)?|[.,٫]\d+)(e[+\-]?\d+)?", re.IGNORECASE)
PERCENT_SIGN = re.compile(r"\s*(?:[%％٪﹪]|percent|per cent|pct\.?)$", re.IGNORECASE)
TYPO = re.compile(r"(\d{1,2})[op]{1,2}", re.IGNORECASE)  # o and p are next to 0 on the keyboard
THOUSANDS = re.compile(r"([+\-−]?)([1-9]\d{0,2}(?:,\d{3})+)")
MIN_TABLE_TEXTS = 2**12  # a lookup table is faster than a dictionary for more texts than this


@dataclass(frozen=True, eq=False)
class Percents:
    """Percents parsed from typed texts: the number of each text, and bit flags for problems (empty, unreadable, ...)."""

    value: Floats  # (n,) the number, also if it is out of range; nan if the text is not a number
    flags: Ints  # (n,) bit mask of PERCENT_FLAGS; 0: no problem

    def __len__(self) -> int:
        return len(self.value)

    def mask_percents_with_flag(self, flag_name: str) -> Bools:
        """(n_texts,) whether each typed percent has the flag of that name: empty, unreadable,
        out-of-range, repaired or fraction.
        """
        return (self.flags & PERCENT_FLAGS[flag_name]) > 0

    def count_percents_by_flag(self) -> dict[str, int]:
        """Return the number of typed percents with each problem flag, by flag name; flags that never occur are left out."""
        found = {what: int(np.count_nonzero(self.flags & flag)) for what, flag in PERCENT_FLAGS.items()}
        return {what: n for what, n in found.items() if n}


def parse_percents(typed: Names) -> Percents:
    """Parse texts typed by people ("70", "80 %", "8p") as percents; problems are flagged, never raised.

    empty          only blanks: nan
    unreadable     not a number: nan
    out-of-range   below 0 or above 100: the number unchanged
    repaired       a corrected number: "8p" is 80, because p and o are next to 0 on the keyboard; "1e2" is 100; "1,000"
                   is a thousand, and so out of range
    fraction       not a whole percent: "70,5" is 70.5, and ".7" stays 0.7 though 70 may have been meant

    A percent sign or word, blanks around the number, leading zeros and the digits of any script are not flagged.

    >>> read = parse_percents(["70", " 80 %", "8p", "", "1e2", "٧٠", "70,5", "-5", "nan"])
    >>> read.value.tolist()
    [70.0, 80.0, 80.0, nan, 100.0, 70.0, 70.5, -5.0, nan]
    >>> read.count_percents_by_flag()
    {'empty': 1, 'unreadable': 1, 'out-of-range': 1, 'repaired': 2, 'fraction': 1}
    """
    texts = as_names(typed, "typed percents").astype(TEXT, copy=False)
    place, different = _index_and_distinct_texts(texts)  # there are few different texts: each is parsed once
    read = [_parse_percent_and_problem_flags(text) for text in different]
    value = np.array([value for value, _ in read], np.float64)
    odd = np.array([odd for _, odd in read], np.uint8)
    return Percents(value[place], odd[place])


def _index_and_distinct_texts(texts: Names) -> tuple[Ints, list[str]]:
    """Return (index, distinct texts) such that `distinct[index]` are the texts."""
    short, place, different = _mask_index_and_distinct_short_ascii(texts if len(texts) > MIN_TABLE_TEXTS else texts[:0])
    if not len(short):
        short, place = np.zeros(len(texts), bool), np.zeros(len(texts), np.int64)
    long: dict[str, int] = {}
    for row, text in zip(np.flatnonzero(~short).tolist(), texts[~short].tolist(), strict=True):
        place[row] = len(different) + long.setdefault(text, len(long))
    return place, different + list(long)


def _mask_index_and_distinct_short_ascii(texts: Names) -> tuple[Bools, Ints, list[str]]:
    """Return (mask of texts with at most three ASCII letters, index of each, distinct such texts), by a fast lookup table."""
    try:
        letters = texts.astype("S4").view(np.uint32)  # four bytes, the first letter lowest; 0: no letter
    except UnicodeEncodeError:
        return np.zeros(len(texts), bool), np.zeros(len(texts), np.int64), []
    a, b, c = letters & 127, letters >> 8 & 127, letters >> 16 & 127
    n_letters = (a > 0).astype(np.int8) + (b > 0) + (c > 0)
    short = np.strings.str_len(texts) == n_letters  # false with a fourth letter, or a letter of code 0
    key = np.where(short, (a << 14) | (b << 7) | c, 0)
    there = np.zeros(2**21, bool)
    there[key] = True
    keys = np.flatnonzero(there)
    place_of = np.zeros(2**21, np.int64)
    place_of[keys] = np.arange(len(keys))
    different = ["".join(map(chr, filter(None, (k >> 14, k >> 7 & 127, k & 127)))) for k in keys.tolist()]
    return short, place_of[key], different


def _parse_percent_and_problem_flags(text: str) -> tuple[float, int]:
    """Parse one typed text as a percent; return (number, bit flags of problems)."""
    text = text.rstrip("\0")  # numpy drops them too
    bare = PERCENT_SIGN.sub("", text.strip())
    if not bare.strip():
        return math.nan, EMPTY if not text.strip() else UNREADABLE
    flags = 0
    if slip := TYPO.fullmatch(bare):
        bare, flags = slip[1] + "0" * (len(bare) - len(slip[1])), REPAIRED
    if THOUSANDS.fullmatch(bare):
        bare, flags = bare.replace(",", ""), REPAIRED
    found = NUMBER.fullmatch(bare)
    if not found:
        return math.nan, UNREADABLE
    sign, digits, power = found.groups()
    value = float(digits.replace(",", ".").replace("٫", ".") + (power or "")) * (-1 if sign and sign != "+" else 1)
    if not math.isfinite(value) or (slip and value > 100):  # "70p" is not a typo for 700
        return math.nan, UNREADABLE
    flags |= REPAIRED if power else 0
    flags |= FRACTION if value != math.floor(value) else 0
    return value + 0.0, flags | (0 if 0 <= value <= 100 else OUT_OF_RANGE)
