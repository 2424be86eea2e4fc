"""Base class of forms with percents: named labels get their percents, open labels share the rest of 100 percent."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints, smallest_unsigned_dtype
from plurivox.core.errors import InputError
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import option
from plurivox.elicit._contract import Form, Shares, set_answer_flags_from_percent_flags, set_flag
from plurivox.elicit._shared.cifar10s_released_formula import Compat, label_weights_by_cifar10s_code
from plurivox.elicit._shared.extract_named_and_ruled_out_labels import (
    CONTRADICTION_HELP,
    AnswerLabels,
    ContradictionRule,
    NamedLabel,
    first_two_named_labels_and_label_count,
)

Spread: TypeAlias = Literal["clamp", "uniform", "none"]
SPREAD_HELP = (
    "where the rest of 100 percent goes: labels neither named nor ruled out (clamp), all not named (uniform), or none"
)
EXPLAIN_NAMED = (
    "The labels named get the percents entered; a top label without one gets 100%, less the percent of the second."
)
MAX_ROWS = 2**31  # of votes


def explain_rest(spread: Spread, gamma: float) -> str:
    """Return in plain sentences where the rest of 100 percent goes; `gamma` is used with spread=clamp only."""
    if spread == "none":
        return "The percents are divided by their sum. Other labels get nothing."
    open_labels = "the labels that were neither named nor ruled out" if spread == "clamp" else "the labels not named"
    return explain_rest_on(open_labels, gamma if spread == "clamp" else 0.0)


def explain_rest_on(open_labels: str, gamma: float) -> str:
    """Return in plain sentences how the labels described by `open_labels` share the rest of 100 percent, and gamma.

    >>> explain_rest_on("the labels not named", 0.1).split(". ")[1]
    'If nothing is missing, they share 10% (gamma = 0.1) and the labels named share the other 90%'
    """
    full = "they get nothing" if not gamma else f"they share {100 * gamma:g}% (gamma = {gamma:g})"
    full += f" and the labels named share the other {100 * (1 - gamma):g}%" if 0 < gamma < 1 else ""
    return (
        f"What is missing to 100% is shared equally among {open_labels}. If nothing is missing, {full}. "
        "If there are no such labels, the percents are divided by their sum."
    )


@dataclass(frozen=True, eq=False)
class Split:
    """How the weight of each answer is split between its named labels and its n open labels (those that get the rest).

    With P the sum of the percents of the answer:

        P < 100:   named p / 100,            open (100 - P) / (100 n)
        P >= 100:  named (1 - gamma) p / P,  open gamma / n
        n = 0:     named p / P

    For integer percents each weight is one division of exact numbers, so that equal answers have equal weights.
    """

    named: AnswerLabels  # sorted by answer and label, each pair once
    points: Floats  # (n_named,) percents, at least 0
    gamma: float

    @property
    def percent_sum_per_answer(self) -> Floats:
        """(n_answers,) the sum of the percents that each answer gives to its named labels."""
        return np.bincount(self.named.answer, self.points, minlength=self.named.n_answers).astype(np.float64)

    def gives_unnamed_labels_weight_or_gamma(self, percent_sum: Floats) -> Bools:
        """(n_answers,) whether the answer leaves weight for labels that it does not name, given its sum of percents."""
        return (percent_sum > 0) & ((percent_sum < 100) | (self.gamma > 0))

    def named_and_open_label_weights(
        self, percent_sum: Floats, n_open_labels: Ints, flags_to_update: Ints
    ) -> tuple[Floats, Floats]:
        """Return ((n_named,) weight of each named label, (n_answers,) of each open label); sets the flag over-100."""
        has_open, full = n_open_labels > 0, percent_sum >= 100
        set_flag(flags_to_update, "over-100", percent_sum > 100)
        whole = np.where(has_open & ~full, 100.0, np.where(percent_sum > 0, percent_sum, 1))
        kept = np.where(has_open & full, 1 - self.gamma, 1.0)
        answer = self.named.answer
        weight = self.points * kept[answer] / whole[answer]
        rest = np.where(full, 100 * self.gamma, 100 - percent_sum)
        each = np.where(has_open, rest, 0) / (100.0 * np.maximum(n_open_labels, 1))
        return weight, each


def label_weights_with_rest_on_open_labels(
    answers: Answers, split: Split, spread: Spread, flags: Ints, *, without_named: bool = False
) -> Shares:
    """Return the label weights of answers: named labels by percent, the rest equally on open labels. Sets flags in `flags`.

    `without_named`: an answer that names no label gives all weight to its open labels.
    """
    from plurivox.engine.kernels import (
        label_weights_from_marks as kernels,  # imported only when needed: compiling takes time
    )

    total, n_labels = split.percent_sum_per_answer, len(answers.labels)
    wanted = split.gives_unnamed_labels_weight_or_gamma(total) | (without_named & (total == 0))
    n_open = np.where(wanted & (spread != "none"), n_labels, 0)
    marks = answers.mark_start, answers.mark_kind, answers.mark_label
    named_start = np.concatenate([[0], np.cumsum(split.named.n_labels_per_answer)])
    skip_ruled_out = spread == "clamp"
    if spread != "none" and len(answers):
        kernels.count_open_labels(wanted, *marks, named_start, split.named.label, skip_ruled_out, n_open)
        set_flag(flags, "no-room", wanted & (total < 100) & (n_open == 0) & (total > 0))
    weight, each = split.named_and_open_label_weights(total, n_open, flags)
    answer = split.named.answer
    size = np.where(each > 0, n_open, 0) + np.bincount(answer[weight > 0], minlength=len(answers))
    if (n_rows := int(size.sum())) > MAX_ROWS:
        raise InputError(
            f"{len(answers):,} answers and {n_labels:,} labels become {n_rows:,} votes, more than {MAX_ROWS:,}; "
            "use spread=none"
        )
    out = np.empty(n_rows, np.int64), np.empty(n_rows, smallest_unsigned_dtype(n_labels)), np.empty(n_rows)
    above, named = np.zeros(len(answers), bool), (named_start, split.named.label, weight)
    kernels.fill_label_weight_rows(
        first_output_row_if_sorted_by_task(answers, size),
        *marks,
        *named,
        each,
        skip_ruled_out,
        n_labels,
        *out,
        above,
    )
    set_flag(flags, "spread-above-top", above & (total > 0))
    return Shares(*out, flags)


def first_output_row_if_sorted_by_task(answers: Answers, n_output_rows_per_answer: Ints) -> Ints:
    """(n_answers,) the first output row of each answer if rows are sorted by task, given the number of rows per answer."""
    from plurivox.engine.kernels import label_weights_from_marks as kernels

    counts = np.bincount(answers.task, minlength=len(answers.tasks))
    order = np.empty(len(answers), np.int64)
    kernels.fill_counting_sort_order(answers.task, np.cumsum(counts) - counts, order)
    begin = np.empty(len(answers), np.int64)
    begin[order] = np.cumsum(n_output_rows_per_answer[order]) - n_output_rows_per_answer[order]
    return begin


@dataclass(frozen=True)
class PercentForm(Form):
    """Base class of forms with percents: corrects and flags unusual percents, repeated labels and contradictions."""

    asks: ClassVar[Question]
    top_is_certain: ClassVar[bool] = False  # a top label without a percent is certain, and not flagged

    gamma: float = option(
        0.1, "total weight of the labels that are not named if the percents sum to 100 or more", low=0, high=1
    )
    contradiction: ContradictionRule = option("named", CONTRADICTION_HELP)
    twice: Literal["first", "last", "sum"] = option(
        "first", "percent of a label that is named twice: the first, the last, or their sum"
    )

    def first_labels_corrected_percents_and_flags(
        self, answers: Answers, n_first_labels: int
    ) -> tuple[AnswerLabels, Floats, Ints]:
        """Return (first `n_first_labels` named labels of each answer, their corrected percents, (n_answers,) flags).

        Repeated labels are merged and contradictions resolved. Answers with more labels than the form asks for are flagged.
        """
        assert self.asks.labels
        flags = np.zeros(len(answers), np.uint32)
        top, second, n_named = first_two_named_labels_and_label_count(answers)
        set_flag(flags, "further-labels", n_named > self.asks.labels)
        set_answer_flags_from_percent_flags(flags, top.percent_flags)
        if n_first_labels < 2:
            second = _empty_named_label(len(answers))
        label2, percent2 = _second_label_and_percent_if_both_given(second, flags)
        percent1, label2, percent2 = self._merge_second_label_if_same_as_top(top, label2, percent2, flags)
        percent1 = _nonzero_top_percent_or_100_minus_second(top, percent1, percent2, flags, self.top_is_certain)
        set_flag(flags, "second-above-top", (top.label >= 0) & (percent2 > percent1))
        set_flag(flags, "no-top", (top.label < 0) & (label2 >= 0))
        label1, label2 = self._drop_ruled_out_top_or_second_label(top, second, label2, flags)
        return *_join_label_columns_to_pairs(label1, percent1, label2, percent2), flags

    def explain_first_labels(self, named: str, spread: Spread, compat: Compat) -> str:
        """Return the sentence `named` with what follows from the options: where the rest goes, and whose code is used."""
        code = "" if compat == "none" else " Computed by the code released with CIFAR-10S, with its errors."
        return f"{named} {explain_rest(spread, self.gamma)}{code}"

    def label_weights_from_first_labels(
        self, answers: Answers, spread: Spread, compat: Compat, *, n_first_labels: int
    ) -> Shares:
        """Return the label weights of answers from their first `n_first_labels` labels, or by the released CIFAR-10S code."""
        if compat == "cifar10s":
            return label_weights_by_cifar10s_code(answers, n_first_labels, spread == "clamp", self.gamma)
        named, points, flags = self.first_labels_corrected_percents_and_flags(answers, n_first_labels)
        return label_weights_with_rest_on_open_labels(
            answers, Split(named, points, self.gamma if spread == "clamp" else 0.0), spread, flags
        )

    def _merge_second_label_if_same_as_top(
        self, top: NamedLabel, second_label: Ints, second_percent: Floats, flags: Ints
    ) -> tuple[Floats, Ints, Floats]:
        """Return (top percent, second label, second percent) after merging a label named twice into the top label; flags it."""
        percent1 = np.clip(top.percent, 0, 100)
        same = (second_label >= 0) & (second_label == top.label)
        set_flag(flags, "named-twice", same)
        if same.any():
            first = np.where(np.isnan(percent1), second_percent, percent1)
            total = np.minimum(np.nan_to_num(percent1) + second_percent, 100)
            merged = {"first": first, "last": second_percent, "sum": total}[self.twice]
            percent1 = np.where(same, merged, percent1)
        return percent1, np.where(same, -1, second_label), np.where(same, 0, second_percent)

    def _drop_ruled_out_top_or_second_label(
        self, top: NamedLabel, second: NamedLabel, second_label: Ints, flags: Ints
    ) -> tuple[Ints, Ints]:
        """Return (top label, second label), -1 if dropped because also ruled out; sets the flag contradiction in `flags`."""
        hit = top.ruled_out | second.ruled_out
        set_flag(flags, "contradiction", hit)
        if self.contradiction == "named" or not hit.any():
            return top.label, second_label
        out1, out2 = (hit, hit) if self.contradiction == "drop" else (top.ruled_out, second.ruled_out)
        return np.where(out1, -1, top.label), np.where(out2, -1, second_label)


def _empty_named_label(n_answers: int) -> NamedLabel:
    """Return a `NamedLabel` for `n_answers` answers that name no second label."""
    return NamedLabel(
        np.full(n_answers, -1, np.int32),
        np.full(n_answers, np.nan),
        np.zeros(n_answers, np.uint8),
        np.zeros(n_answers, bool),
    )


def _second_label_and_percent_if_both_given(second: NamedLabel, flags: Ints) -> tuple[Ints, Floats]:
    """Return (second label, its percent) of each answer, (-1, 0) if it has no percent; sets flags in `flags`, in place."""
    set_answer_flags_from_percent_flags(flags, second.percent_flags)
    empty = np.isnan(second.percent)
    set_flag(flags, "second-without-percent", empty & (second.label >= 0))
    percent = np.where(empty, 0, np.clip(second.percent, 0, 100))
    set_flag(flags, "zero-second", second.percent == 0)
    return np.where(empty, -1, second.label), percent


def _nonzero_top_percent_or_100_minus_second(
    top: NamedLabel, top_percent: Floats, second_percent: Floats, flags: Ints, percent_is_optional: bool
) -> Floats:
    """(n_answers,) the top label's percent, replaced by 100 minus the second percent if empty or 0; sets flags in `flags`."""
    there = top.label >= 0
    if not percent_is_optional:
        set_flag(flags, "no-percent", there & np.isnan(top_percent))
    set_flag(flags, "zero-top", there & (top_percent == 0) & ~(top.percent < 0))
    return np.where(there, np.where(top_percent > 0, top_percent, 100 - second_percent), 0)


def _join_label_columns_to_pairs(
    top_label: Ints, top_percent: Floats, second_label: Ints, second_percent: Floats
) -> tuple[AnswerLabels, Floats]:
    """Return first and second labels (-1: none) with their percents as pairs of answer and label, sorted."""
    swapped = (second_label >= 0) & (second_label < top_label)
    label, percent = np.empty((len(top_label), 2), np.int32), np.empty((len(top_label), 2))
    label[:, 0], label[:, 1] = np.where(swapped, second_label, top_label), np.where(swapped, top_label, second_label)
    percent[:, 0], percent[:, 1] = (
        np.where(swapped, second_percent, top_percent),
        np.where(swapped, top_percent, second_percent),
    )
    there = np.flatnonzero(label.ravel() >= 0)
    return AnswerLabels(there >> 1, label.ravel()[there], len(label)), percent.ravel()[there]
