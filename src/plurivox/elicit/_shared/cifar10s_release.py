"""The formula of the released CIFAR-10S code, errors included: reproduces the published labels bit by bit."""

from typing import Literal, TypeAlias

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import OptionError
from plurivox.core.types import Bools, Floats, Ints
from plurivox.elicit._contract import Shares, set_flag, set_percent_flags
from plurivox.elicit._shared.answer_marks import AnswerLabels, find_first_two_named_labels, marks_of_kind

Compat: TypeAlias = Literal["none", "cifar10s"]
COMPAT_HELP = "use the formula of a released data set, including its errors"
MAX_CELLS = 2**22  # of the dense table in memory at a time


def check_spread(form: str, spread: str) -> None:
    """Raise OptionError if the released code of `form` does not have this value of the option `spread`."""
    if spread not in ("clamp", "uniform"):
        raise OptionError(f"{form}: with compat=cifar10s spread must be clamp or uniform; got {spread}")


def released_shares(answers: Answers, used: int, clamp: bool, gamma: float) -> Shares:
    """Compute the soft label of each answer by the released formula, from its first `used` labels.

    Percents are parsed as in the released code ("8p" is 80), and a top percent of 0 is 100. A second label without a percent
    is ignored; one that equals the top label overwrites its percent. An answer with a negative weight is flagged and left out.
    """
    never, n_labels = marks_of_kind(answers, "never"), len(answers.labels)
    flags = np.zeros(len(answers), np.uint32)
    top, second, _ = find_first_two_named_labels(answers)
    set_percent_flags(flags, top.odd | second.odd if used > 1 else top.odd)
    set_flag(flags, "zero-top", top.percent == 0)
    first = np.where(top.percent == 0, 100, top.percent) / 100
    label2 = np.where((used > 1) & ~np.isnan(second.percent), second.label, -1)
    set_flag(flags, "named-twice", (label2 >= 0) & (label2 == top.label))
    set_flag(flags, "contradiction", top.ruled_out | (second.ruled_out & (used > 1)))
    parts: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    bad = np.zeros(len(answers), bool)
    for begin in range(0, len(answers), step := max(MAX_CELLS // n_labels, 1)):
        rows = slice(begin, begin + step)
        value = np.zeros((len(first[rows]), n_labels))
        _set_shares(value, top.label[rows], first[rows])
        _set_shares(value, label2[rows], second.percent[rows] / 100)
        made = (
            _clamp_formula(value, _not_ruled_out(never, begin, value.shape), gamma)
            if clamp
            else _uniform_formula(value)
        )
        bad[rows] = (made < 0).any(1)
        made[bad[rows] | ~np.isfinite(made).all(1)] = 0
        row, label = np.nonzero(made)
        parts.append((row + begin, label, made[row, label]))
    set_flag(flags, "negative", bad)
    answer, label, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Shares(answer, label, weight, flags)


def _set_shares(value: Floats, label: Ints, share: Floats) -> None:
    """Write share (n_rows,) into value (n_rows, n_labels) in place, at the label of each row; skip rows with label -1."""
    rows = np.flatnonzero(label >= 0)
    value[rows, label[rows]] = share[rows]


def _not_ruled_out(never: AnswerLabels, begin: int, shape: tuple[int, ...]) -> Bools:
    """(n_rows, n_labels) whether a label is not ruled out, for the answers from `begin` on."""
    possible = np.ones(shape, bool)
    low, high = np.searchsorted(never.answer, [begin, begin + shape[0]])
    possible[never.answer[low:high] - begin, never.label[low:high]] = False
    return possible


def _clamp_formula(value: Floats, possible: Bools, gamma: float) -> Floats:
    """(n_rows, n_labels) the released formula of T1 and T2 Clamp.

    Its error: `n`, the possible labels minus those with weight, is wrong if a label with weight is ruled out.
    """
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


def _uniform_formula(value: Floats) -> Floats:
    """(n_rows, n_labels) the released formula of T1 and T2 Uniform."""
    total = value.sum(1, keepdims=True)
    rest = np.where(total < 1, 1 - total, 0) / np.maximum((value == 0).sum(1, keepdims=True), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.where(value == 0, rest, value)
        return made / made.sum(1, keepdims=True)
