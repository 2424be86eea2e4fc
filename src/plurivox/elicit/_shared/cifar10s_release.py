"""CIFAR-10S as its authors released it: their formula, faults included, to the last bit of the published labels."""

from typing import Literal, TypeAlias

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import OptionError
from plurivox.core.types import Bools, Floats, Ints
from plurivox.elicit._contract import Shares, raise_odd, set_flag
from plurivox.elicit._shared.marks import Pairs, first_two, marked

Compat: TypeAlias = Literal["none", "cifar10s"]
COMPAT = "reproduce a released data set, faults included"
CELLS = 2**22  # of the dense table that is in memory at a time


def check_spread(of: str, spread: str) -> None:
    """Raise OptionError for a way of spreading that the release does not have; it would be read as one of its two."""
    if spread not in ("clamp", "uniform"):
        raise OptionError(f"{of}: the release spreads what is left; with compat=cifar10s spread is clamp or uniform")


def released(answers: Answers, used: int, clamp: bool, gamma: float) -> Shares:
    """The authors' label of each answer from its first `used` labels; one that comes out negative is flagged and left out.

    Percents are read as they read them ("8p" is 80), and a top percent of 0 is 100. A second label without a percent is not
    there; one that is the top label again overwrites it.
    """
    never, n_labels = marked(answers, "never"), len(answers.labels)
    flags = np.zeros(len(answers), np.uint32)
    top, second, _ = first_two(answers)
    raise_odd(flags, top.odd | second.odd if used > 1 else top.odd)
    set_flag(flags, "zero-top", top.percent == 0)
    first = np.where(top.percent == 0, 100, top.percent) / 100
    label2 = np.where((used > 1) & ~np.isnan(second.percent), second.label, -1)
    set_flag(flags, "named-twice", (label2 >= 0) & (label2 == top.label))
    set_flag(flags, "contradiction", top.ruled_out | (second.ruled_out & (used > 1)))
    parts: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    bad = np.zeros(len(answers), bool)
    for begin in range(0, len(answers), step := max(CELLS // n_labels, 1)):
        rows = slice(begin, begin + step)
        value = np.zeros((len(first[rows]), n_labels))
        _put(value, top.label[rows], first[rows])
        _put(value, label2[rows], second.percent[rows] / 100)
        made = _clamped(value, _possible(never, begin, value.shape), gamma) if clamp else _uniform(value)
        bad[rows] = (made < 0).any(1)
        made[bad[rows] | ~np.isfinite(made).all(1)] = 0
        row, label = np.nonzero(made)
        parts.append((row + begin, label, made[row, label]))
    set_flag(flags, "negative", bad)
    answer, label, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Shares(answer, label, weight, flags)


def _put(value: Floats, label: Ints, share: Floats) -> None:
    rows = np.flatnonzero(label >= 0)
    value[rows, label[rows]] = share[rows]


def _possible(never: Pairs, begin: int, shape: tuple[int, ...]) -> Bools:
    """(n_rows, n_labels) which labels are not ruled out."""
    possible = np.ones(shape, bool)
    low, high = np.searchsorted(never.answer, [begin, begin + shape[0]])
    possible[never.answer[low:high] - begin, never.label[low:high]] = False
    return possible


def _clamped(value: Floats, possible: Bools, gamma: float) -> Floats:
    """`n` counts possible labels less those with mass, so that a label with mass that is ruled out distorts it."""
    total = value.sum(1, keepdims=True)
    n = possible.sum(1, keepdims=True) - (value > 0).sum(1, keepdims=True)
    full = total >= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.where(full, value / total, value)
        spread = value * np.where(full, 1 - gamma, 1) + np.where(
            possible & (value == 0), np.where(full, gamma, 1 - total) / n, 0
        )
        made = np.where(n != 0, spread, value)
        return made / made.sum(1, keepdims=True)


def _uniform(value: Floats) -> Floats:
    total = value.sum(1, keepdims=True)
    rest = np.where(total < 1, 1 - total, 0) / np.maximum((value == 0).sum(1, keepdims=True), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.where(value == 0, rest, value)
        return made / made.sum(1, keepdims=True)
