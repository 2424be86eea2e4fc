"""What every answer puts on labels, what is odd about it, and what becomes of it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.core.percents import ODD
from plurivox.core.types import Bools, Floats, Ints

FLAGS = {  # name: (bit, what it means)
    "no-percent": (1 << 0, "no percent typed beside the top label; it gets what the others leave of 100"),
    "unreadable-percent": (1 << 1, "what was typed is no number; read as nothing typed"),
    "out-of-range": (
        1 << 2,
        "a percent below 0 or above 100; taken as 0 or 100, below 0 beside the top label as nothing typed",
    ),
    "repaired": (1 << 3, "a percent read after a guess, such as 8p for 80"),
    "fraction": (1 << 4, "a percent that is not whole; taken as typed"),
    "zero-top": (1 << 5, "0 typed beside the top label; read as nothing typed"),
    "zero-second": (1 << 6, "0 typed beside the second label; it gets nothing"),
    "second-without-percent": (1 << 7, "a second label without a percent; it shares what is left, as if not named"),
    "second-above-top": (1 << 8, "the second label has the larger percent; taken as typed"),
    "named-twice": (1 << 9, "the same label named twice"),
    "contradiction": (1 << 10, "a label both named and ruled out"),
    "over-100": (1 << 11, "percents sum to more than 100; divided by their sum"),
    "no-room": (1 << 12, "percents sum to less than 100 and no label is open for the rest; divided by their sum"),
    "spread-above-top": (1 << 13, "a label that was not named got more than the top label"),
    "negative": (1 << 14, "the released formula gives a negative weight; left out"),
    "set-aside-but-marked": (1 << 15, "abstained or none of these, and labels marked all the same; the marks are left"),
    "further-labels": (1 << 16, "more labels named than the form asks for; left"),
    "under-100": (1 << 17, "percents of a whole distribution sum to less than 100; divided by their sum"),
    "nothing-ruled-out": (1 << 18, "no label ruled out: every label may be"),
    "percent-without-label": (1 << 19, "a percent typed where no label was chosen; it counts for nothing"),
    "no-top": (1 << 20, "a second label and no top one; taken as typed"),
}

FATES = ("read", "abstained", "none-of-these", "unreadable")  # what became of an answer
READ, ABSTAINED, NONE_OF_THESE, UNREAD = range(4)

OF_PERCENTS = {  # what percents() finds odd -> our flag
    "unreadable": "unreadable-percent",
    "out-of-range": "out-of-range",
    "repaired": "repaired",
    "fraction": "fraction",
}


def raised(flags: Ints, name: str, where: Bools) -> None:
    """Raise a flag in place."""
    if where.any():
        flags[where] |= np.uint32(FLAGS[name][0])


def raise_odd(flags: Ints, odd: Ints) -> None:
    """Raise the flags of percents that were read: `odd` (n_answers,) as `Percents.odd`."""
    if odd.any():
        for what, name in OF_PERCENTS.items():
            raised(flags, name, (odd & ODD[what]) > 0)


@dataclass(frozen=True, eq=False)
class Shares:
    """Weights on labels that sum to one for each answer, those above zero alone, and what was odd about it."""

    answer: Ints  # (n_rows,) the rows of an answer lie together
    label: Ints  # (n_rows,) increasing within an answer
    weight: Floats  # (n_rows,) above zero
    flags: Ints  # (n_answers,) sum of the bits of FLAGS

    @cached_property
    def said(self) -> Bools:
        """(n_answers,) which answers say anything."""
        found = np.zeros(len(self.flags), bool)
        found[self.answer] = True
        return found


def shared(answer: Ints, label: Ints, points: Floats, flags: Ints) -> Shares:
    """Points on labels (`answer` and `label` sorted, each pair once), divided by the sum of each answer."""
    kept = points > 0
    answer, label, points = answer[kept], label[kept], points[kept]
    total = np.bincount(answer, points, minlength=len(flags))
    return Shares(answer, label, points / total[answer], flags)


def sorted_pairs(answer: Ints, label: Ints, points: Floats, n_labels: int) -> tuple[Ints, Ints, Floats]:
    """The same rows sorted by answer, then label."""
    order = np.argsort(answer.astype(np.int64) * n_labels + label, kind="stable")
    return answer[order], label[order], points[order]
