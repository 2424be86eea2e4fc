"""Spreading what is left of 100 percent over the labels that are still open."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError
from plurivox.core.types import Bools, Floats, Ints, smallest_ints
from plurivox.elicit._shared.answer_flags import raised
from plurivox.elicit._shared.answer_shares import Shares
from plurivox.elicit._shared.marks import Pairs
from plurivox.engine.kernels import marks as kernels

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
        raised(flags, "over-100", total > 100)
        whole = np.where(opened & ~full, 100.0, np.where(total > 0, total, 1))
        kept = np.where(opened & full, 1 - self.gamma, 1.0)
        answer = self.named.answer
        weight = self.points * kept[answer] / whole[answer]
        left = np.where(full, 100 * self.gamma, 100 - total)
        each = np.where(opened, left, 0) / (100.0 * np.maximum(n_open, 1))
        return weight, each


def spread(answers: Answers, split: Split, how: Spread, flags: Ints, *, bare: bool = False) -> Shares:
    """The weights of named labels, and the rest in equal parts on the open ones; `bare`: also where nothing is named."""
    total, n_labels = split.total, len(answers.labels)
    wanted = split.wants(total) | (bare & (total == 0))
    n_open = np.where(wanted & (how != "none"), n_labels, 0)
    marks = answers.mark_start, answers.mark_kind, answers.mark_label
    named_start = np.concatenate([[0], np.cumsum(split.named.counts)])
    heed = how == "clamp"
    if how != "none" and len(answers):
        kernels.count_open(wanted, *marks, named_start, split.named.label, heed, n_open)
        raised(flags, "no-room", wanted & (total < 100) & (n_open == 0) & (total > 0))
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
    kernels.fill(rows_by_task(answers, size), *marks, *named, each, heed, n_labels, *out, above)
    raised(flags, "spread-above-top", above & (total > 0))
    return Shares(*out, flags)


def rows_by_task(answers: Answers, size: Ints) -> Ints:
    """(n_answers,) where the rows of each answer begin when all lie by task; `size` says how many it has."""
    counts = np.bincount(answers.task, minlength=len(answers.tasks))
    order = np.empty(len(answers), np.int64)
    kernels.by_code(answers.task, np.cumsum(counts) - counts, order)
    begin = np.empty(len(answers), np.int64)
    begin[order] = np.cumsum(size[order]) - size[order]
    return begin
