"""Forms that ask for percents: the top label with one, perhaps a second label with another."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.method import option
from plurivox.core.types import Floats, Ints
from plurivox.elicit._contract import Form
from plurivox.elicit._shared.answer_flags import raise_odd, raised
from plurivox.elicit._shared.marks import SETTLED, Named, Pairs, Settled, first_two


@dataclass(frozen=True)
class Percented(Form):
    """A form with a percent beside the label, and what its answers may get wrong."""

    sure: ClassVar[bool] = False  # no percent beside the top label means that the person is sure: nothing is odd

    gamma: float = option(0.1, "share kept for open labels when the percents use up 100", low=0, high=1)
    contradiction: Settled = option("named", SETTLED)
    twice: Literal["first", "last", "sum"] = option("first", "which percent counts where a label is named twice")

    def columns(self, answers: Answers, asked: int, used: int) -> tuple[Pairs, Floats, Ints]:
        """(named, points, flags): the first `used` named labels of each answer with settled percents, sorted.

        `asked` is how many labels the form asks for; more than that are flagged.
        """
        flags = np.zeros(len(answers), np.uint32)
        top, second, n_named = first_two(answers)
        raised(flags, "further-labels", n_named > asked)
        raise_odd(flags, top.odd)
        if used < 2:
            second = _no_second(len(answers))
        label2, percent2 = _second(second, flags)
        percent1, label2, percent2 = self._once(top, label2, percent2, flags)
        percent1 = _top(top, percent1, percent2, flags, self.sure)
        raised(flags, "second-above-top", (top.label >= 0) & (percent2 > percent1))
        raised(flags, "no-top", (top.label < 0) & (label2 >= 0))
        label1, label2 = self._settle(top, second, label2, flags)
        return *_in_order(label1, percent1, label2, percent2), flags

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

    def _settle(self, top: Named, second: Named, label2: Ints, flags: Ints) -> tuple[Ints, Ints]:
        """The two labels, -1 where a contradiction leaves them out."""
        hit = top.ruled_out | second.ruled_out
        raised(flags, "contradiction", hit)
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
    raised(flags, "second-without-percent", bare & (second.label >= 0))
    percent = np.where(bare, 0, np.clip(second.percent, 0, 100))
    raised(flags, "zero-second", second.percent == 0)
    return np.where(bare, -1, second.label), percent


def _top(top: Named, percent: Floats, other: Floats, flags: Ints, sure: bool) -> Floats:
    """The percent of the top label: what the second leaves of 100 where nothing, or nothing above 0, was typed."""
    there = top.label >= 0
    if not sure:
        raised(flags, "no-percent", there & np.isnan(percent))
    raised(flags, "zero-top", there & (percent == 0) & ~(top.percent < 0))
    return np.where(there, np.where(percent > 0, percent, 100 - other), 0)


def _in_order(label1: Ints, percent1: Floats, label2: Ints, percent2: Floats) -> tuple[Pairs, Floats]:
    """Two columns of labels and percents as pairs sorted by answer and label."""
    swapped = (label2 >= 0) & (label2 < label1)
    label, percent = np.empty((len(label1), 2), np.int32), np.empty((len(label1), 2))
    label[:, 0], label[:, 1] = np.where(swapped, label2, label1), np.where(swapped, label1, label2)
    percent[:, 0], percent[:, 1] = np.where(swapped, percent2, percent1), np.where(swapped, percent1, percent2)
    there = np.flatnonzero(label.ravel() >= 0)
    return Pairs(there >> 1, label.ravel()[there], len(label)), percent.ravel()[there]
