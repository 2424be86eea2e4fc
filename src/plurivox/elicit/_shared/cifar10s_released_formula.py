"""Label weights by the formula of the released CIFAR-10S code, errors included: the published soft labels bit by bit."""

from typing import Literal, TypeAlias

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.errors import OptionError
from plurivox.elicit._contract import Shares, set_answer_flags_from_percent_flags, set_flag
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    AnswerLabels,
    answer_label_pairs_of_mark_kind,
    first_two_named_labels_and_label_count,
)

Compat: TypeAlias = Literal["none", "cifar10s"]
COMPAT_HELP = (
    "cifar10s: weights by the formula of the released CIFAR-10S code, including its errors; none: as in the paper"
)
MAX_CELLS = 2**22  # of the dense table in memory at a time


def check_spread_is_clamp_or_uniform(form_name: str, spread: str) -> None:
    """Raise OptionError if the option `spread` is not clamp or uniform, the two formulas of the released CIFAR-10S code."""
    if spread not in ("clamp", "uniform"):
        raise OptionError(f"{form_name}: with compat=cifar10s spread must be clamp or uniform; got {spread}")


def label_weights_by_cifar10s_code(answers: Answers, n_first_labels: int, clamp: bool, gamma: float) -> Shares:
    """Return each answer's label weights by the formula of the released CIFAR-10S code, from its first `n_first_labels` labels.

    Percents are parsed as in the released code ("8p" is 80), and a top percent of 0 is 100. A second label without a percent
    is ignored; one that equals the top label overwrites its percent. An answer with a negative weight is flagged and left out.
    """
    never, n_labels = answer_label_pairs_of_mark_kind(answers, "never"), len(answers.labels)
    flags = np.zeros(len(answers), np.uint32)
    top, second, _ = first_two_named_labels_and_label_count(answers)
    set_answer_flags_from_percent_flags(
        flags, top.percent_flags | second.percent_flags if n_first_labels > 1 else top.percent_flags
    )
    set_flag(flags, "zero-top", top.percent == 0)
    first = np.where(top.percent == 0, 100, top.percent) / 100
    label2 = np.where((n_first_labels > 1) & ~np.isnan(second.percent), second.label, -1)
    set_flag(flags, "named-twice", (label2 >= 0) & (label2 == top.label))
    set_flag(flags, "contradiction", top.ruled_out | (second.ruled_out & (n_first_labels > 1)))
    parts: list[tuple[Ints, Ints, Floats]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0))]
    bad = np.zeros(len(answers), bool)
    for begin in range(0, len(answers), step := max(MAX_CELLS // n_labels, 1)):
        rows = slice(begin, begin + step)
        value = np.zeros((len(first[rows]), n_labels))
        _write_weight_at_label_of_row(value, top.label[rows], first[rows])
        _write_weight_at_label_of_row(value, label2[rows], second.percent[rows] / 100)
        made = (
            _weights_by_cifar10s_clamp_formula(value, _mask_of_labels_not_ruled_out(never, begin, value.shape), gamma)
            if clamp
            else _weights_by_cifar10s_uniform_formula(value)
        )
        bad[rows] = (made < 0).any(1)
        made[bad[rows] | ~np.isfinite(made).all(1)] = 0
        row, label = np.nonzero(made)
        parts.append((row + begin, label, made[row, label]))
    set_flag(flags, "negative", bad)
    answer, label, weight = (np.concatenate(column) for column in zip(*parts, strict=True))
    return Shares(answer, label, weight, flags)


def _write_weight_at_label_of_row(table: Floats, label: Ints, weight: Floats) -> None:
    """Write `weight` (n_rows,) into `table` (n_rows, n_labels), in place, at the label of each row; skip label -1."""
    rows = np.flatnonzero(label >= 0)
    table[rows, label[rows]] = weight[rows]


def _mask_of_labels_not_ruled_out(ruled_out: AnswerLabels, first_answer: int, shape: tuple[int, ...]) -> Bools:
    """(n_rows, n_labels) whether each answer does not rule out each label, for n_rows answers from `first_answer` on."""
    possible = np.ones(shape, bool)
    low, high = np.searchsorted(ruled_out.answer, [first_answer, first_answer + shape[0]])
    possible[ruled_out.answer[low:high] - first_answer, ruled_out.label[low:high]] = False
    return possible


def _weights_by_cifar10s_clamp_formula(entered_shares: Floats, is_possible: Bools, gamma: float) -> Floats:
    """(n_rows, n_labels) label weights by the T1 and T2 Clamp formula of the released CIFAR-10S code, from `entered_shares`.

    Its error: `n`, the possible labels minus those with weight, is wrong if a label with weight is ruled out.
    """
    total = entered_shares.sum(1, keepdims=True)
    n = is_possible.sum(1, keepdims=True) - (entered_shares > 0).sum(1, keepdims=True)
    full = total >= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        entered_shares = np.where(full, entered_shares / total, entered_shares)
        spread = entered_shares * np.where(full, 1 - gamma, 1) + np.where(
            is_possible & (entered_shares == 0), np.where(full, gamma, 1 - total) / n, 0
        )
        made = np.where(n != 0, spread, entered_shares)
        return made / made.sum(1, keepdims=True)


def _weights_by_cifar10s_uniform_formula(entered_shares: Floats) -> Floats:
    """(n_rows, n_labels) label weights by the T1 and T2 Uniform formula of the released CIFAR-10S code."""
    total = entered_shares.sum(1, keepdims=True)
    rest = np.where(total < 1, 1 - total, 0) / np.maximum((entered_shares == 0).sum(1, keepdims=True), 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        made = np.where(entered_shares == 0, rest, entered_shares)
        return made / made.sum(1, keepdims=True)
