"""Forms that ask for percents: the top label with one, perhaps a second label with another."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.method import option
from plurivox.core.names import Bools, Floats, Ints
from plurivox.elicit._contract import Form
from plurivox.elicit._flags import raise_odd, raised
from plurivox.elicit._marks import SETTLED, Named, Pairs, Settled, at_place, marked, ruled_out, typed_percents


@dataclass(frozen=True)
class Percented(Form):
    """A form with a percent beside the label, and what its answers may get wrong."""

    sure: ClassVar[bool] = False  # no percent beside the top label means that the person is sure: nothing is odd

    gamma: float = option(0.1, "share kept for open labels when the percents use up 100", low=0, high=1)
    contradiction: Settled = option("named", SETTLED)
    twice: Literal["first", "last", "sum"] = option("first", "which percent counts where a label is named twice")

    def columns(self, answers: Answers, asked: int, used: int) -> tuple[Pairs, Floats, Pairs, Ints]:
        """(named, points, never, flags): the first `used` named labels of each answer with settled percents, sorted.

        `asked` is how many labels the form asks for; more than that are flagged.
        """
        pairs, read = marked(answers, "named"), typed_percents(answers)
        never = marked(answers, "never")
        flags = np.zeros(len(answers), np.uint32)
        raised(flags, "further-labels", pairs.counts > asked)
        top = at_place(pairs, read, 0)
        raise_odd(flags, top.odd)
        second = _no_second(len(answers)) if used < 2 else at_place(pairs, read, 1)
        label2, percent2 = _second(second, flags)
        percent1, label2, percent2 = self._once(top, label2, percent2, flags)
        percent1 = _top(top.label, percent1, percent2, flags, self.sure)
        raised(flags, "second-above-top", percent2 > percent1)
        label = np.stack([top.label, label2], 1)
        percent = np.stack([percent1, np.where(label2 >= 0, percent2, 0)], 1)
        self._settle(label, ruled_out(never, top.label), ruled_out(never, second.label), flags)
        return *_in_order(label, percent), never, flags

    def _once(self, top: Named, label2: Ints, percent2: Floats, flags: Ints) -> tuple[Floats, Ints, Floats]:
        """A label named twice counts once."""
        percent1 = np.clip(top.percent, 0, 100)
        same = (label2 >= 0) & (label2 == top.label)
        raised(flags, "named-twice", same)
        if same.any():
            first = np.where(np.isnan(percent1), percent2, percent1)
            total = np.minimum(np.nan_to_num(percent1) + percent2, 100)
            settled = {"first": first, "last": percent2, "sum": total}[self.twice]
            percent1 = np.where(same, settled, percent1)
        return percent1, np.where(same, -1, label2), np.where(same, 0, percent2)

    def _settle(self, label: Ints, top_out: Bools, second_out: Bools, flags: Ints) -> None:
        """Contradictions, in place: the label (n_answers, 2) becomes -1 where it is not to count."""
        hit = top_out | second_out
        raised(flags, "contradiction", hit)
        if self.contradiction == "never":
            label[top_out, 0] = -1
            label[second_out, 1] = -1
        elif self.contradiction == "drop":
            label[hit] = -1


def _no_second(n_answers: int) -> Named:
    return Named(np.full(n_answers, -1, np.int32), np.full(n_answers, np.nan), np.zeros(n_answers, np.uint8))


def _second(second: Named, flags: Ints) -> tuple[Ints, Floats]:
    """The second label and its percent: -1 and 0 where there is none, or no percent for it."""
    raise_odd(flags, second.odd)
    bare = np.isnan(second.percent)
    raised(flags, "second-without-percent", bare & (second.label >= 0))
    percent = np.where(bare, 0, np.clip(second.percent, 0, 100))
    raised(flags, "zero-second", ~bare & (percent == 0))
    return np.where(bare, -1, second.label), percent


def _top(label: Ints, percent: Floats, other: Floats, flags: Ints, sure: bool) -> Floats:
    """The percent of the top label: what the second leaves of 100 where nothing, or nothing above 0, was typed."""
    there = label >= 0
    if not sure:
        raised(flags, "no-percent", there & np.isnan(percent))
    raised(flags, "zero-top", there & (percent == 0))
    return np.where(there, np.where(percent > 0, percent, 100 - other), 0)


def _in_order(label: Ints, percent: Floats) -> tuple[Pairs, Floats]:
    """Two columns of labels and percents as pairs sorted by answer and label."""
    swapped = (label[:, 1] >= 0) & (label[:, 1] < label[:, 0])
    label[swapped] = label[swapped, ::-1]
    percent[swapped] = percent[swapped, ::-1]
    there = (label >= 0).ravel()
    answer = np.repeat(np.arange(len(label)), 2)[there]
    return Pairs(answer, label.ravel()[there], len(label)), percent.ravel()[there]
