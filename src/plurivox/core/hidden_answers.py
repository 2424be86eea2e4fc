"""Split votes into visible and hidden ones: of every task the answers of some people, or all answers of some workers.

The unit that is hidden is a person: all answers of a named worker to a task, one answer without a name, or one of a count. So
no hidden person is also among the visible ones of the task.
"""

from dataclasses import dataclass, replace

import numpy as np

from plurivox.core.array_types import Bools, Ints
from plurivox.core.errors import InputError, OptionError
from plurivox.core.sample_existing_answers import AnswerUnits, mask_m_random_rows_per_task
from plurivox.core.votes import Votes


@dataclass(frozen=True, eq=False)
class SplitVotes:
    """Votes in two parts with the same tasks and labels; only tasks with votes in both parts have hidden votes."""

    visible: Votes
    hidden: Votes


def hide_answers(votes: Votes, k: int = 1, seed: int = 0) -> SplitVotes:
    """Hide the answers of `k` random people to each task; a task that `k` people or fewer answered stays visible.

    >>> split = hide_answers(Votes.from_counts(np.array([[30, 20], [1, 0]]), ["a", "b"], ["no", "yes"]), 10)
    >>> split.visible.support.tolist(), split.hidden.support.tolist()
    ([40.0, 1.0], [10.0, 0.0])
    """
    people = _People.of_votes(votes)
    n_per_task = np.bincount(people.task_of_copy, minlength=votes.n_tasks)
    hidden = mask_m_random_rows_per_task(people.task_of_copy, _check_number(k, "hide"), seed)
    return people.split_by_hidden_copies(hidden & (n_per_task > k)[people.task_of_copy])


def draw_answers(votes: Votes, n: int, seed: int = 0) -> SplitVotes:
    """Draw the answers of `n` random people to each task as visible votes, and hide all others.

    >>> split = draw_answers(Votes.from_counts(np.array([[30, 20], [1, 0]]), ["a", "b"], ["no", "yes"]), 10)
    >>> split.visible.support.tolist(), split.hidden.support.tolist()
    ([10.0, 1.0], [40.0, 0.0])
    """
    people = _People.of_votes(votes)
    return people.split_by_hidden_copies(
        ~mask_m_random_rows_per_task(people.task_of_copy, _check_number(n, "votes per task"), seed)
    )


def hide_workers(votes: Votes, share: float = 0.2, seed: int = 0) -> SplitVotes:
    """Hide all votes of a random `share` of the workers, at least one worker; hidden votes on tasks of nobody else are dropped.

    >>> votes = Votes.of(task=list("aab"), worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> split = hide_workers(votes, 0.5)  # hides worker 1
    >>> split.visible.support.tolist(), split.hidden.support.tolist()
    ([1.0, 0.0], [1.0, 0.0])
    """
    if not 0 < share < 1:
        raise OptionError(f"the share of workers to hide must be between 0 and 1; got {share}")
    votes.require_worker_names("hiding workers", "; hide answers instead: hide=1 (--hide 1)")
    active = np.flatnonzero(votes.n_answers_per_worker > 0)
    if len(active) < 2:
        raise InputError(f"hiding workers needs two workers with votes or more; there are {len(active)}")
    n_hidden = min(max(round(share * len(active)), 1), len(active) - 1)
    is_hidden = np.zeros(votes.n_workers, bool)
    is_hidden[np.random.default_rng(seed).permutation(active)[:n_hidden]] = True
    visible = votes.where(~is_hidden[votes.worker])
    return SplitVotes(visible, votes.where(is_hidden[votes.worker] & (visible.support > 0)[votes.task]))


def _check_number(number: int, name: str) -> int:
    """Return a whole number of people; raise OptionError if it is below 1."""
    if isinstance(number, bool) or not isinstance(number, int | np.integer) or number < 1:
        raise OptionError(f"{name} must be a whole number, 1 or more; got {number!r}")
    return int(number)


@dataclass(frozen=True, eq=False)
class _People:
    """The people behind votes: a copy per person and task, where a count of 30 is 30 copies."""

    votes: Votes
    units: AnswerUnits
    person_of_unit: Ints  # (n_units,)
    person_of_copy: Ints  # (n_copies,)
    task_of_copy: Ints  # (n_copies,) the task code

    @classmethod
    def of_votes(cls, votes: Votes) -> "_People":
        """Return the people behind the votes; several answers of a named worker to a task are one person."""
        units = AnswerUnits.group_rows_into_answers_or_counts(votes)
        n, first = len(units.times), np.searchsorted(units.unit, np.arange(len(units.times)))
        worker = votes.worker[first].astype(np.int64)
        key = units.task.astype(np.int64) * max(votes.n_workers, 1) + worker
        unnamed = worker < 0
        key[unnamed] = votes.n_tasks * max(votes.n_workers, 1) + np.flatnonzero(unnamed)
        _, at, person = np.unique(key, return_index=True, return_inverse=True)
        copies = np.repeat(np.arange(len(at)), units.times[at]) if n else np.zeros(0, np.int64)
        return cls(votes, units, person, copies, units.task[at][copies])

    def split_by_hidden_copies(self, hidden: Bools) -> SplitVotes:
        """Return the votes split by a mask of copies; copies on tasks without a visible one stay visible."""
        seen = np.bincount(self.task_of_copy[~hidden], minlength=self.votes.n_tasks)
        off = hidden & (seen > 0)[self.task_of_copy]
        return SplitVotes(self._votes_of_copies(~off), self._votes_of_copies(off))

    def _votes_of_copies(self, mask: Bools) -> Votes:
        """Return the votes of the copies where `mask` is true; the weight of a count is their number."""
        left = np.bincount(self.person_of_copy[mask], minlength=int(self.person_of_unit.max(initial=-1)) + 1)
        left_of_row = left[self.person_of_unit[self.units.unit]]
        kept = self.votes.where(left_of_row > 0)
        if self.votes.weight is None:
            return kept
        weight = np.where(self.units.counted, left_of_row, self.votes.weight)[left_of_row > 0]
        return replace(kept, weight=weight)
