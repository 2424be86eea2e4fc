"""Which tasks are hard, and why: many people disagree, few votes, votes of unreliable workers, methods that disagree."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from plurivox.charts._shared.votes_in_words import number_text, votes_per_label
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.name_encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.workflows.report.different_labels import names_another_label

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
            found += names_another_label(self.fit.soft, fit.soft)
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

    @cached_property
    def gold_without_votes(self) -> Ints:
        """Codes of the tasks with votes, but none for their gold label, those with most votes first."""
        code, counts = self.gold_code, self.votes.sparse_vote_counts()
        of_task = code[counts.row_of_each_candidate]
        voted = np.zeros(self.votes.n_tasks, bool)
        voted[counts.row_of_each_candidate[(counts.label == of_task) & (counts.mass > 0)]] = True
        found = np.flatnonzero((code != -1) & ~voted & self.has_votes)
        return found[np.argsort(-self.votes.support[found], kind="stable")]

    def reason(self, task: int) -> str:
        """Return in words how the votes on a task stand, and how many other methods name another label first."""
        label, counts = str(self.votes.labels[self.top[task]]), votes_per_label(self.votes, task)
        n, own = sum(counts.values()), counts.get(int(self.top[task]), 0.0)
        if not n:
            return "Nobody voted on it."
        if n == 1:
            return "One vote only: nobody checked it."
        if own == n:
            parts = [f"All {number_text(n)} votes are for {label}"]
        else:
            parts = [
                f"{number_text(own)} of {number_text(n)} votes {'is' if own == 1 else 'are'} for {label}, the first label"
            ]
        if len(counts) > 1 and own < max(counts.values()):
            parts.append("another label has more votes")
        if (others := int(self.n_other_tops[task])) and len(self.fits) > 1:
            parts.append(f"{others} of {len(self.fits) - 1} other methods name another label than {label} first")
        return "; ".join(parts) + "."
