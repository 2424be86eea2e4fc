"""Percents as people type them, and the faults they make.

Rates are those of the 6,723 answers released by Collins et al. (2022, https://doi.org/10.1609/hcomp.v10i1.21986); people whose
answers lacked a percent or went beyond 100 had been left out there, so these two are a guess.
"""

from typing import NamedTuple

import numpy as np

from plurivox.core.types import TEXT, Bools, Floats, Ints

SEEN = 6723
FAULTS = {  # how many answers in SEEN
    "same-label": 153,  # the runner-up is the top label again
    "above-100": 520,  # both percents together; not those counted above
    "second-above-top": 36,
    "contradiction": 40,  # a label both named and ruled out
    "no-second-percent": 10,
    "zero-second-percent": 4,
    "zero-top-percent": 6,
    "mistyped": 6,  # 8p, 80% or a space before the number
    "no-top-percent": 7,
    "out-of-range": 7,
}
ON_TOP = ("zero-top-percent", "mistyped", "no-top-percent", "out-of-range")  # those that need no runner-up
IN_FIVES = 0.87  # the others type whole numbers, of which a fifth are multiples of five too: 90 in 100 together
ALTERNATIVE = 0.9  # chance that somebody who is not sure names a runner-up
SUM_TOLERANCE = np.arange(101)
TEXTS = np.array(
    [
        *map(str, SUM_TOLERANCE),
        *(f"{n}%" for n in SUM_TOLERANCE),
        *(f" {n}" for n in SUM_TOLERANCE),
        *(f"{n // 10}p" if n >= 10 else f"{n}p" for n in SUM_TOLERANCE),
        *(f"{n}0" if n > 10 else f"{n + 1}00" for n in SUM_TOLERANCE),
        "",
    ],
    dtype=TEXT,
)
SIGN, SPACE, LETTER, BEYOND, NOTHING = 101, 202, 303, 404, 505  # where these spellings of a number begin in TEXTS


class Typed(NamedTuple):
    """The top label and its runner-up with what is typed beside them, as places in TEXTS. Each (n,)."""

    top: Ints
    second: Ints
    top_typed: Ints
    second_typed: Ints
    named: Bools  # whether a runner-up is named


def draw_faults(n: int, words: tuple[str, ...], scale: float, rng: np.random.Generator) -> Ints:
    """(n,) the fault in each answer as its place among FAULTS, -1 where there is none; only those in `words` occur."""
    rates = np.array([scale * count / SEEN if word in words else 0.0 for word, count in FAULTS.items()])
    place = np.searchsorted(np.cumsum(rates), rng.random(n), side="right")
    return np.where(place < len(FAULTS), place, -1)


def draw_steps(n: int, rng: np.random.Generator) -> Ints:
    """(n,) 5 for those who type multiples of five, 1 for the others."""
    return np.where(rng.random(n) < IN_FIVES, 5, 1)


def in_steps(share: Floats, step: Ints) -> Ints:
    """(n,) a share of one in percent, rounded to the step but never to nothing."""
    return np.clip(np.rint(100 * share / step).astype(np.int64) * step, step, 100)


def type_two(stated: Floats, fault: Ints, rng: np.random.Generator) -> Typed:
    """What people type for the two labels they find likeliest; `stated` (n, n_labels) sums to one in every row."""
    n = len(stated)
    rows, step = np.arange(n), draw_steps(n, rng)
    top = stated.argmax(1)
    others = stated.copy()
    others[rows, top] = -1
    second = others.argmax(1)
    p1 = in_steps(stated[rows, top], step)
    p2 = np.minimum(in_steps(stated[rows, second], step), 100 - p1)
    named = (p2 > 0) & (rng.random(n) < ALTERNATIVE)
    is_ = {word: fault == place for place, word in enumerate(FAULTS)}
    for word in ("same-label", "above-100", "second-above-top", "no-second-percent", "zero-second-percent"):
        named |= is_[word]
    second = np.where(is_["same-label"], top, second)
    beyond = np.minimum(100 - p1 + 5 * rng.geometric(0.3, n), np.where(p1 > 50, p1, 100))
    least = np.minimum(p1, np.maximum(p2, 5))
    p2 = np.select(
        [is_["same-label"], is_["above-100"], is_["second-above-top"], is_["zero-second-percent"]],
        [p1, beyond, np.minimum(np.maximum(p1, least + 5), 100), 0],
        p2,
    )
    p1 = np.select([is_["second-above-top"], is_["zero-top-percent"]], [np.minimum(least, 95), 0], p1)
    spelling = SIGN * rng.integers(1, 4, n)  # SIGN, SPACE or LETTER
    first = p1 + np.where(is_["mistyped"], spelling, np.where(is_["out-of-range"], BEYOND, 0))
    first = np.where(is_["no-top-percent"], NOTHING, first)
    return Typed(top, second, first, np.where(is_["no-second-percent"] | ~named, NOTHING, p2), named)
