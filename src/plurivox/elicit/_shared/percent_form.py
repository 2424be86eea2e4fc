"""Forms that ask for percents: the labels named with one, and the rest of 100 percent on the labels that are open."""

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.questions import Question
from plurivox.core.types import Bools, Floats, Ints, smallest_ints
from plurivox.elicit._contract import Form, Shares, raise_odd, set_flag
from plurivox.elicit._shared.cifar10s_release import Compat, released
from plurivox.elicit._shared.marks import SETTLED, Named, Pairs, Settled, first_two

Spread: TypeAlias = Literal["clamp", "uniform", "none"]
SPREAD = (
    "where the rest of 100 percent goes: to labels neither named nor ruled out, to all labels not named, or nowhere"
)
ROWS = 2**31  # of votes that answers may become


@dataclass(frozen=True, eq=False)
class Split:
    """How each answer is split between the labels it names and the n labels it leaves open.

    With P the sum of its percents:

        P < 100:   named p / 100,            open (100 - P) / (100 n)
        P >= 100:  named (1 - gamma) p / P,  open gamma / n
        n = 0:     named p / P

    Each is one division of exact numbers as long as percents are whole, so equal answers have equal weights.
    """

    named: Pairs  # sorted by answer and label, each pair once
    points: Floats  # (n_named,) percents, 0 and more
    gamma: float

    @property
    def total(self) -> Floats:
        """(n_answers,) P."""
        return np.bincount(self.named.answer, self.points, minlength=self.named.n_answers).astype(np.float64)

    def wants(self, total: Floats) -> Bools:
        """(n_answers,) which answers have something for open labels."""
        return (total > 0) & ((total < 100) | (self.gamma > 0))

    def weigh(self, total: Floats, n_open: Ints, flags: Ints) -> tuple[Floats, Floats]:
        """(n_named,) the weight of every named label, and (n_answers,) that of each open one."""
        opened, full = n_open > 0, total >= 100
        set_flag(flags, "over-100", total > 100)
        whole = np.where(opened & ~full, 100.0, np.where(total > 0, total, 1))
        kept = np.where(opened & full, 1 - self.gamma, 1.0)
        answer = self.named.answer
        weight = self.points * kept[answer] / whole[answer]
        left = np.where(full, 100 * self.gamma, 100 - total)
        each = np.where(opened, left, 0) / (100.0 * np.maximum(n_open, 1))
        return weight, each


def spread(answers: Answers, split: Split, how: Spread, flags: Ints, *, bare: bool = False) -> Shares:
    """The weights of named labels, and the rest in equal parts on the open ones; `bare`: also where nothing is named."""
    from plurivox.engine.kernels import answer_weights as kernels  # compiles: not needed to know what a form asks for

    total, n_labels = split.total, len(answers.labels)
    wanted = split.wants(total) | (bare & (total == 0))
    n_open = np.where(wanted & (how != "none"), n_labels, 0)
    marks = answers.mark_start, answers.mark_kind, answers.mark_label
    named_start = np.concatenate([[0], np.cumsum(split.named.counts)])
    heed = how == "clamp"
    if how != "none" and len(answers):
        kernels.count_open_labels(wanted, *marks, named_start, split.named.label, heed, n_open)
        set_flag(flags, "no-room", wanted & (total < 100) & (n_open == 0) & (total > 0))
    weight, each = split.weigh(total, n_open, flags)
    answer = split.named.answer
    size = np.where(each > 0, n_open, 0) + np.bincount(answer[weight > 0], minlength=len(answers))
    if (n_rows := int(size.sum())) > ROWS:
        raise InputError(
            f"{len(answers):,} answers and {n_labels:,} labels become {n_rows:,} votes: leave the rest of 100 percent "
            "where it is (spread=none)"
        )
    out = np.empty(n_rows, np.int64), np.empty(n_rows, smallest_ints(n_labels)), np.empty(n_rows)
    above, named = np.zeros(len(answers), bool), (named_start, split.named.label, weight)
    kernels.fill_weight_rows(rows_by_task(answers, size), *marks, *named, each, heed, n_labels, *out, above)
    set_flag(flags, "spread-above-top", above & (total > 0))
    return Shares(*out, flags)


def rows_by_task(answers: Answers, size: Ints) -> Ints:
    """(n_answers,) where the rows of each answer begin when all lie by task; `size` says how many it has."""
    from plurivox.engine.kernels import answer_weights as kernels

    counts = np.bincount(answers.task, minlength=len(answers.tasks))
    order = np.empty(len(answers), np.int64)
    kernels.counting_sort(answers.task, np.cumsum(counts) - counts, order)
    begin = np.empty(len(answers), np.int64)
    begin[order] = np.cumsum(size[order]) - size[order]
    return begin


@dataclass(frozen=True)
class Percented(Form):
    """A form with a percent beside the label, and what its answers may get wrong."""

    asks: ClassVar[Question]
    sure: ClassVar[bool] = False  # no percent beside the top label means that the person is sure: nothing is odd

    gamma: float = option(0.1, "share kept for open labels when the percents use up 100", low=0, high=1)
    contradiction: Settled = option("named", SETTLED)
    twice: Literal["first", "last", "sum"] = option("first", "which percent counts where a label is named twice")

    def columns(self, answers: Answers, used: int) -> tuple[Pairs, Floats, Ints]:
        """(named, points, flags): the first `used` named labels of each answer with settled percents, sorted.

        Answers that name more labels than the form asks for are flagged.
        """
        assert self.asks.labels
        flags = np.zeros(len(answers), np.uint32)
        top, second, n_named = first_two(answers)
        set_flag(flags, "further-labels", n_named > self.asks.labels)
        raise_odd(flags, top.odd)
        if used < 2:
            second = _no_second(len(answers))
        label2, percent2 = _second(second, flags)
        percent1, label2, percent2 = self._once(top, label2, percent2, flags)
        percent1 = _top(top, percent1, percent2, flags, self.sure)
        set_flag(flags, "second-above-top", (top.label >= 0) & (percent2 > percent1))
        set_flag(flags, "no-top", (top.label < 0) & (label2 >= 0))
        label1, label2 = self._settle(top, second, label2, flags)
        return *_in_order(label1, percent1, label2, percent2), flags

    def top_shares(self, answers: Answers, how: Spread, compat: Compat, *, used: int) -> Shares:
        """Shares of the first `used` labels and of the open ones, or as CIFAR-10S released them (`compat`)."""
        if compat == "cifar10s":
            return released(answers, used, how == "clamp", self.gamma)
        named, points, flags = self.columns(answers, used)
        return spread(answers, Split(named, points, self.gamma if how == "clamp" else 0.0), how, flags)

    def _once(self, top: Named, label2: Ints, percent2: Floats, flags: Ints) -> tuple[Floats, Ints, Floats]:
        """A label named twice counts once."""
        percent1 = np.clip(top.percent, 0, 100)
        same = (label2 >= 0) & (label2 == top.label)
        set_flag(flags, "named-twice", same)
        if same.any():
            first = np.where(np.isnan(percent1), percent2, percent1)
            total = np.minimum(np.nan_to_num(percent1) + percent2, 100)
            settled = {"first": first, "last": percent2, "sum": total}[self.twice]
            percent1 = np.where(same, settled, percent1)
        return percent1, np.where(same, -1, label2), np.where(same, 0, percent2)

    def _settle(self, top: Named, second: Named, label2: Ints, flags: Ints) -> tuple[Ints, Ints]:
        """The two labels, -1 where a contradiction leaves them out."""
        hit = top.ruled_out | second.ruled_out
        set_flag(flags, "contradiction", hit)
        if self.contradiction == "named" or not hit.any():
            return top.label, label2
        out1, out2 = (hit, hit) if self.contradiction == "drop" else (top.ruled_out, second.ruled_out)
        return np.where(out1, -1, top.label), np.where(out2, -1, label2)


def _no_second(n: int) -> Named:
    return Named(np.full(n, -1, np.int32), np.full(n, np.nan), np.zeros(n, np.uint8), np.zeros(n, bool))


def _second(second: Named, flags: Ints) -> tuple[Ints, Floats]:
    """The second label and its percent: -1 and 0 where there is none, or no percent for it."""
    raise_odd(flags, second.odd)
    bare = np.isnan(second.percent)
    set_flag(flags, "second-without-percent", bare & (second.label >= 0))
    percent = np.where(bare, 0, np.clip(second.percent, 0, 100))
    set_flag(flags, "zero-second", second.percent == 0)
    return np.where(bare, -1, second.label), percent


def _top(top: Named, percent: Floats, other: Floats, flags: Ints, sure: bool) -> Floats:
    """The percent of the top label: what the second leaves of 100 where nothing, or nothing above 0, was typed."""
    there = top.label >= 0
    if not sure:
        set_flag(flags, "no-percent", there & np.isnan(percent))
    set_flag(flags, "zero-top", there & (percent == 0) & ~(top.percent < 0))
    return np.where(there, np.where(percent > 0, percent, 100 - other), 0)


def _in_order(label1: Ints, percent1: Floats, label2: Ints, percent2: Floats) -> tuple[Pairs, Floats]:
    """Two columns of labels and percents as pairs sorted by answer and label."""
    swapped = (label2 >= 0) & (label2 < label1)
    label, percent = np.empty((len(label1), 2), np.int32), np.empty((len(label1), 2))
    label[:, 0], label[:, 1] = np.where(swapped, label2, label1), np.where(swapped, label1, label2)
    percent[:, 0], percent[:, 1] = np.where(swapped, percent2, percent1), np.where(swapped, percent1, percent2)
    there = np.flatnonzero(label.ravel() >= 0)
    return Pairs(there >> 1, label.ravel()[there], len(label)), percent.ravel()[there]
