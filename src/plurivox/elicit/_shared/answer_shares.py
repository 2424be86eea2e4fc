"""Shares: what every answer puts on labels. Only what is above zero is held, so very many labels cost nothing."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.core.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Shares:
    """Weights on labels that sum to one for each answer, and what was odd about it."""

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
