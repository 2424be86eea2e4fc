"""Percents as workers type them: rounding, spelling and faults.

Rates are those of the 6,723 answers released by Collins et al. (2022, https://doi.org/10.1609/hcomp.v10i1.21986). The release
excludes workers whose answers had no percent or one above 100, so the rates of these two faults are assumed.
"""

from typing import NamedTuple

import numpy as np

from plurivox.core.array_types import TEXT, Bools, Floats, Ints

N_RELEASED = 6723  # answers in the release
FAULTS = {  # fault -> number of released answers with it
    "same-label": 153,  # the runner-up is the top label again
    "above-100": 520,  # the sum of both percents; without those of same-label
    "second-above-top": 36,
    "contradiction": 40,  # a label both named and ruled out
    "no-second-percent": 10,
    "zero-second-percent": 4,
    "zero-top-percent": 6,
    "mistyped": 6,  # such as 8p, 80% or a space before the number
    "no-top-percent": 7,
    "out-of-range": 7,
}
# faults possible without a runner-up
TOP_PERCENT_FAULTS = (
    "zero-top-percent",
    "mistyped",
    "no-top-percent",
    "out-of-range",
)
MULTIPLE_OF_FIVE_RATE = 0.87  # of workers who round to 5; a fifth of other whole numbers are too: together 90%
RUNNER_UP_RATE = 0.9  # probability that an unsure worker names a runner-up
WHOLE_PERCENTS = np.arange(101)
TYPED_TEXTS = np.array(
    [
        *map(str, WHOLE_PERCENTS),
        *(f"{n}%" for n in WHOLE_PERCENTS),
        *(f" {n}" for n in WHOLE_PERCENTS),
        *(f"{n // 10}p" if n >= 10 else f"{n}p" for n in WHOLE_PERCENTS),
        *(f"{n}0" if n > 10 else f"{n + 1}00" for n in WHOLE_PERCENTS),
        "",
    ],
    dtype=TEXT,
)
# offsets of the spellings in TYPED_TEXTS
PERCENT_SIGN, LEADING_SPACE, LETTER, TOO_LARGE, EMPTY = (
    101,
    202,
    303,
    404,
    505,
)


class TypedPercents(NamedTuple):
    """The top label and runner-up of each answer, and the text typed beside them as positions in TYPED_TEXTS; each (n,)."""

    top: Ints
    second: Ints
    top_typed: Ints
    second_typed: Ints
    named: Bools  # whether a runner-up is named


def draw_fault_code_per_answer(
    n_answers: int, fault_names: tuple[str, ...], rate_factor: float, rng: np.random.Generator
) -> Ints:
    """Return (n,) a random entry fault per answer as its position in FAULTS, -1 for none; only those in `fault_names` occur.

    `rate_factor` multiplies the rates of the released answers.
    """
    rates = np.array(
        [rate_factor * count / N_RELEASED if name in fault_names else 0.0 for name, count in FAULTS.items()]
    )
    fault = np.searchsorted(np.cumsum(rates), rng.random(n_answers), side="right")
    return np.where(fault < len(FAULTS), fault, -1)


def draw_rounding_steps_of_5_or_1(n_answers: int, rng: np.random.Generator) -> Ints:
    """Return (n,) the random step, 5 or 1, to which the percents of each answer are rounded."""
    return np.where(rng.random(n_answers) < MULTIPLE_OF_FIVE_RATE, 5, 1)


def percents_rounded_to_at_least_one_step(share: Floats, step: Ints) -> Ints:
    """Return (n,) shares of 0 to 1 as whole percents, rounded to a multiple of the step (n,) and at least one step."""
    return np.clip(np.rint(100 * share / step).astype(np.int64) * step, step, 100)


def draw_top_two_labels_and_typed_percents(
    stated_beliefs: Floats, fault: Ints, rng: np.random.Generator
) -> TypedPercents:
    """Return the percents typed for the two most probable labels of beliefs (n, n_labels), with entry faults (n,) applied.

    `fault` is a position in FAULTS, -1 for none.
    """
    n = len(stated_beliefs)
    rows, step = np.arange(n), draw_rounding_steps_of_5_or_1(n, rng)
    top = stated_beliefs.argmax(1)
    others = stated_beliefs.copy()
    others[rows, top] = -1
    second = others.argmax(1)
    p1 = percents_rounded_to_at_least_one_step(stated_beliefs[rows, top], step)
    p2 = np.minimum(percents_rounded_to_at_least_one_step(stated_beliefs[rows, second], step), 100 - p1)
    named = (p2 > 0) & (rng.random(n) < RUNNER_UP_RATE)
    has_fault = {name: fault == code for code, name in enumerate(FAULTS)}
    for name in ("same-label", "above-100", "second-above-top", "no-second-percent", "zero-second-percent"):
        named |= has_fault[name]
    second = np.where(has_fault["same-label"], top, second)
    beyond = np.minimum(100 - p1 + 5 * rng.geometric(0.3, n), np.where(p1 > 50, p1, 100))
    least = np.minimum(p1, np.maximum(p2, 5))
    p2 = np.select(
        [
            has_fault["same-label"],
            has_fault["above-100"],
            has_fault["second-above-top"],
            has_fault["zero-second-percent"],
        ],
        [p1, beyond, np.minimum(np.maximum(p1, least + 5), 100), 0],
        p2,
    )
    p1 = np.select([has_fault["second-above-top"], has_fault["zero-top-percent"]], [np.minimum(least, 95), 0], p1)
    spelling = PERCENT_SIGN * rng.integers(1, 4, n)  # PERCENT_SIGN, LEADING_SPACE or LETTER
    first = p1 + np.where(has_fault["mistyped"], spelling, np.where(has_fault["out-of-range"], TOO_LARGE, 0))
    first = np.where(has_fault["no-top-percent"], EMPTY, first)
    return TypedPercents(top, second, first, np.where(has_fault["no-second-percent"] | ~named, EMPTY, p2), named)
