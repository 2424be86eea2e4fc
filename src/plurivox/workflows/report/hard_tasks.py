"""Which tasks are hard, and why: many people disagree, few votes, votes of unreliable workers, methods that disagree."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.charts._shared.votes_in_words import votes_per_label
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.name_encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

FEW = 2  # votes on a task with so many say little, whatever they are
SURE = 0.9  # probability from which a label counts as sure


@dataclass(frozen=True, eq=False)
class HardTasks:
    """Tasks in the order in which to look at them, most uncertain first, with what makes each of them hard.

    They are sorted by the entropy of the soft label (of the method chosen), rounded; of equal ones the task with more votes
    comes first, because there more people disagree. Tasks without votes come last.
    """

    votes: Votes
    fit: Fit
    fits: Mapping[str, Fit]  # all that answer the same question
    gold: SoftLabels | None

    @cached_property
    def entropy(self) -> Floats:
        """(n_tasks,) entropy of the soft labels in nats; NaN without votes."""
        return np.where(self.votes.support > 0, np.maximum(self.fit.soft.entropy(), 0), np.nan)

    @cached_property
    def order(self) -> Ints:
        """(n_tasks,) the codes of the tasks, those to look at first."""
        key = np.nan_to_num(-self.entropy.round(6), nan=np.inf)
        return np.lexsort((np.arange(len(key)), -self.votes.support, key))

    @cached_property
    def top(self) -> Ints:
        """(n_tasks,) code of the most probable label."""
        return self.fit.soft.most_probable_label_codes()

    @cached_property
    def confidence(self) -> Floats:
        """(n_tasks,) probability of the most probable label."""
        return self.fit.soft.confidence

    @cached_property
    def n_other_tops(self) -> Ints:
        """(n_tasks,) number of other methods for the same question that name another label first."""
        found = np.zeros(self.votes.n_tasks, np.int64)
        for fit in self.fits.values():
            found += fit.soft.most_probable_label_codes() != self.top
        return found

    @cached_property
    def gold_code(self) -> Ints:
        """(n_tasks,) code of the gold label among the labels of the votes; -1 if unknown, -2 if it is none of them."""
        found = np.full(self.votes.n_tasks, -1)
        if self.gold is None:
            return found
        place = positions(self.votes.tasks, self.gold.tasks)
        code = positions(self.votes.labels, self.gold.labels)[self.gold.most_probable_label_codes()]
        found[place[place >= 0]] = np.where(code < 0, -2, code)[place >= 0]
        return found

    @property
    def has_votes(self) -> Bools:
        """(n_tasks,) whether the task has votes."""
        return self.votes.support > 0

    @cached_property
    def against_gold(self) -> Ints:
        """Codes of the tasks whose label is sure but not the gold label, the surest first: either may be wrong."""
        wrong = (self.gold_code != -1) & (self.gold_code != self.top) & (self.confidence >= SURE) & self.has_votes
        found = np.flatnonzero(wrong)
        return found[np.lexsort((-self.votes.support[found], -self.confidence[found].round(6)))]

    def names(self, n: int) -> Names:
        """Return the names of the first n tasks."""
        return self.votes.tasks[self.order[:n]]

    def reason(self, task: int) -> str:
        """Return in words why a task is hard."""
        counts = list(votes_per_label(self.votes, task).values())
        n = sum(counts)
        if not n:
            return "Nobody voted on it."
        if len(counts) == 1 and n <= FEW:
            return (
                f"Only {n:g} vote{'s' if n != 1 else ''}: nobody checked it."
                if n == 1
                else f"Only {n:g} votes, which agree."
            )
        parts = []
        if len(counts) > 1 and counts[0] - counts[1] < 1e-9:
            parts.append("The labels with the most votes are tied")
        elif len(counts) > 1 and counts[0] / n <= 0.5:
            parts.append("No label has more than half of the votes")
        elif len(counts) > 1:
            parts.append(f"{n - counts[0]:g} of {n:g} votes are for another label")
        else:
            parts.append(f"All {n:g} votes agree, but they come from workers who are often wrong")
        if (others := int(self.n_other_tops[task])) and len(self.fits) > 1:
            parts.append(f"{others} of {len(self.fits) - 1} other methods name another label first")
        return "; ".join(parts) + "."
