"""Percents as people type them: "70", "70 %", "8p", nothing. Read, never refused; what is odd about them is told."""

import math
import re
from dataclasses import dataclass

import numpy as np

from plurivox.core.encoding import as_names
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names

EMPTY, UNREADABLE, OUT_OF_RANGE, REPAIRED, FRACTION = 1, 2, 4, 8, 16
ODD = {
    "empty": EMPTY,
    "unreadable": UNREADABLE,
    "out-of-range": OUT_OF_RANGE,
    "repaired": REPAIRED,
    "fraction": FRACTION,
}

# digits of any script, a point or a comma; nothing that Python alone takes for a number ("nan", "1_0", "inf")
NUMBER = re.compile(r"([+\-−]?)(\d+(?:[.,٫]\d*)?|[.,٫]\d+)(e[+\-]?\d+)?", re.IGNORECASE)
SIGN = re.compile(r"\s*(?:[%％٪﹪]|percent|per cent|pct\.?)$", re.IGNORECASE)
SLIP = re.compile(r"(\d{1,2})[op]{1,2}", re.IGNORECASE)  # o and p lie under 0 on the keyboard
THOUSANDS = re.compile(r"([+\-−]?)([1-9]\d{0,2}(?:,\d{3})+)")
FEW = 2**12  # texts up to which a dictionary is faster than a table


@dataclass(frozen=True, eq=False)
class Percents:
    """What was typed, as numbers, and what is odd about each."""

    value: Floats  # (n,) as typed, also where it is out of range; nan where nothing can be read
    odd: Ints  # (n,) sum of the flags in ODD; 0 where nothing is odd

    def __len__(self) -> int:
        return len(self.value)

    def is_odd(self, what: str) -> Bools:
        """(n,) where that flag of `ODD` is up."""
        return (self.odd & ODD[what]) > 0

    def counts(self) -> dict[str, int]:
        """How many carry each flag, without the flags nobody carries."""
        found = {what: int(np.count_nonzero(self.odd & flag)) for what, flag in ODD.items()}
        return {what: n for what, n in found.items() if n}


def percents(typed: Names) -> Percents:
    """Texts as percents; an odd one is flagged and never an error.

    empty          nothing but blanks: nan
    unreadable     no number: nan
    out-of-range   below 0 or above 100: the number as it is
    repaired       a number after a guess: "8p" is 80, because p and o lie beside 0 on the keyboard; "1e2" is 100; "1,000"
                   is a thousand, and so out of range
    fraction       not a whole percent: "70,5" is 70.5, and ".7" stays 0.7 though 70 may have been meant

    A sign or word for percent, blanks around, leading zeros and the digits of any script are not odd.

    >>> read = percents(["70", " 80 %", "8p", "", "1e2", "٧٠", "70,5", "-5", "nan"])
    >>> read.value.tolist()
    [70.0, 80.0, 80.0, nan, 100.0, 70.0, 70.5, -5.0, nan]
    >>> read.counts()
    {'empty': 1, 'unreadable': 1, 'out-of-range': 1, 'repaired': 2, 'fraction': 1}
    """
    texts = as_names(typed, "typed percents").astype(TEXT, copy=False)
    place, different = _distinct(texts)  # people type few different texts: each is read once
    read = [_read(text) for text in different]
    value = np.array([value for value, _ in read], np.float64)
    odd = np.array([odd for _, odd in read], np.uint8)
    return Percents(value[place], odd[place])


def _distinct(texts: Names) -> tuple[Ints, list[str]]:
    """(place, different): `different[place]` are the texts."""
    short, place, different = _short(texts if len(texts) > FEW else texts[:0])
    if not len(short):
        short, place = np.zeros(len(texts), bool), np.zeros(len(texts), np.int64)
    long: dict[str, int] = {}
    for row, text in zip(np.flatnonzero(~short).tolist(), texts[~short].tolist(), strict=True):
        place[row] = len(different) + long.setdefault(text, len(long))
    return place, different + list(long)


def _short(texts: Names) -> tuple[Bools, Ints, list[str]]:
    """Which texts are ASCII and at most three letters long; these are told apart by a table, many times faster."""
    try:
        letters = texts.astype("S4").view(
            np.uint32
        )  # the codes of four letters, the first lowest, 0 where there is none
    except UnicodeEncodeError:
        return np.zeros(len(texts), bool), np.zeros(len(texts), np.int64), []
    a, b, c = letters & 127, letters >> 8 & 127, letters >> 16 & 127
    n_letters = (a > 0).astype(np.int8) + (b > 0) + (c > 0)
    short = np.strings.str_len(texts) == n_letters  # not: those with a fourth letter, or with one of code 0
    key = np.where(short, (a << 14) | (b << 7) | c, 0)
    there = np.zeros(2**21, bool)
    there[key] = True
    keys = np.flatnonzero(there)
    place_of = np.zeros(2**21, np.int64)
    place_of[keys] = np.arange(len(keys))
    different = ["".join(map(chr, filter(None, (k >> 14, k >> 7 & 127, k & 127)))) for k in keys.tolist()]
    return short, place_of[key], different


def _read(text: str) -> tuple[float, int]:
    """One text as (percent, flags)."""
    text = text.rstrip("\0")  # numpy does not see them either
    bare = SIGN.sub("", text.strip())
    if not bare.strip():
        return math.nan, EMPTY if not text.strip() else UNREADABLE
    flags = 0
    if slip := SLIP.fullmatch(bare):
        bare, flags = slip[1] + "0" * (len(bare) - len(slip[1])), REPAIRED
    if THOUSANDS.fullmatch(bare):
        bare, flags = bare.replace(",", ""), REPAIRED
    found = NUMBER.fullmatch(bare)
    if not found:
        return math.nan, UNREADABLE
    sign, digits, power = found.groups()
    value = float(digits.replace(",", ".").replace("٫", ".") + (power or "")) * (-1 if sign and sign != "+" else 1)
    if not math.isfinite(value) or (slip and value > 100):  # "70p" is no slip for 700
        return math.nan, UNREADABLE
    flags |= REPAIRED if power else 0
    flags |= FRACTION if value != math.floor(value) else 0
    return value + 0.0, flags | (0 if 0 <= value <= 100 else OUT_OF_RANGE)
