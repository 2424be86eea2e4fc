"""Sample answers: at most m answers per task, or one random answer of a task at a time.

The unit that is drawn is one person's answer to one task, for Answers, votes, soft answers and counts without names. Units
are drawn without replacement, so counts follow the hypergeometric distribution.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.arguments_as_users_hold_them import to_votes_or_answers
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.name_encoding import distinct_names
from plurivox.core.votes import Votes

Crowd = TypeVar("Crowd", Answers, Votes)


def subsample(crowd: Crowd, m: int, seed: int = 0) -> Crowd:
    """Return at most `m` random answers to each task; with the same seed, a smaller m gives a subset.

    A DataFrame, a matrix or a path is read as votes.

    >>> votes = Votes.from_counts(np.array([[30, 20], [1, 1]]), ["a", "b"], ["no", "yes"])
    >>> subsample(votes, 4).support.tolist()
    [4.0, 2.0]
    """
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 0:
        raise OptionError(f"m must be a whole number, 0 or more; got {m!r}")
    note = f"at most {m} answers per task, seed {seed}"
    crowd = to_votes_or_answers(crowd)
    if isinstance(crowd, Answers):
        return crowd.where(mask_m_random_rows_per_task(crowd.task, m, seed), note)
    units = AnswerUnits.group_rows_into_answers_or_counts(crowd)
    copy = np.repeat(np.arange(len(units.times)), units.times)  # a count of 30 is 30 answers
    # (n_rows,)
    left = np.bincount(copy[mask_m_random_rows_per_task(units.task[copy], m, seed)], minlength=len(units.times))[
        units.unit
    ]
    kept = crowd.where(left > 0)
    weight = None if crowd.weight is None else np.where(units.counted, left, crowd.weight)[left > 0]
    return replace(kept, weight=weight, notes=(*crowd.notes, note))


def mask_m_random_rows_per_task(task_of_row: Ints, m: int, seed: int) -> Bools:
    """(n_rows,) whether each row is drawn: m random rows per task, the first m in a random order
    that depends on the seed only.
    """
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(task_of_row)), task_of_row))
    size = np.bincount(task_of_row) if len(task_of_row) else np.zeros(0, np.int64)
    rank = np.arange(len(task_of_row)) - np.repeat(np.cumsum(size) - size, size)
    drawn = np.zeros(len(task_of_row), bool)
    drawn[order] = rank < m
    return drawn


@dataclass(frozen=True, eq=False)
class AnswerUnits:
    """Votes grouped into units to draw (one answer, or a count of equal ones): the unit of every
    row, task and count of every unit.
    """

    unit: Ints  # (n_rows,) non-decreasing
    task: Ints  # (n_units,) non-decreasing
    times: Ints  # (n_units,) 1, or the count of people without a name
    counted: Bools  # (n_rows,) whether the row is a count of people without a name

    @classmethod
    def group_rows_into_answers_or_counts(cls, votes: Votes) -> Self:
        """Group votes into units to draw, answers or counts of answers. Raise InputError if a count is not a whole number."""
        begins = np.ones(len(votes), bool)
        if votes.answer is not None:
            begins[1:] = votes.answer[1:] != votes.answer[:-1]
        unit = np.cumsum(begins) - 1
        first = np.flatnonzero(begins)
        alone = np.diff(first, append=len(votes)) == 1
        counted = (votes.worker < 0) & alone[unit] if votes.weight is not None else np.zeros(len(votes), bool)
        times = np.where(counted, votes.weights, 1.0)[first]
        if (broken := times != np.floor(times)).any():
            tasks = first_few(distinct_names(votes.tasks[votes.task[first[broken]]]))
            raise InputError(f"sampling needs counts that are whole numbers; check the tasks {tasks}")
        return cls(unit, votes.task[first], times.astype(np.int64), counted)


@dataclass(frozen=True, eq=False)
class AnswerSampler:
    """Sampler that draws the whole answer of one random person for each task given.

    The arrays form a nested index that also works on a GPU: the people who answered task t have the places `first[t]` to
    `first[t + 1]` of one sequence; the places of unit u end at `unit_end[u]`; its rows are
    `row_start[u]:row_start[u + 1]` of `label` and `weight`.

    Collins, Bhatt and Weller (2022), section 5.2, https://doi.org/10.1609/hcomp.v10i1.21986.

    >>> votes = Votes.of(task=["a", "a", "b"], worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> sampler = AnswerSampler.from_votes(votes)
    >>> sampler.draw_label_weights_of_random_answers(np.array([1, 1]), np.random.default_rng(0))
    array([[0., 1.],
           [0., 1.]])
    """

    first: Ints  # (n_tasks + 1,)
    unit_end: Ints  # (n_units,) increasing
    row_start: Ints  # (n_units + 1,)
    label: Ints  # (n_rows,)
    weight: Floats  # (n_rows,)
    tasks: Names
    labels: Names

    @classmethod
    def from_votes(cls, votes: Votes) -> Self:
        """Create a sampler of answers from votes (plain votes, soft answers or counts without names)."""
        units = AnswerUnits.group_rows_into_answers_or_counts(votes)
        n_answers_per_task = np.bincount(units.task, units.times, minlength=votes.n_tasks).astype(np.int64)
        return cls(
            np.concatenate([[0], np.cumsum(n_answers_per_task)]),
            np.cumsum(units.times),
            np.searchsorted(units.unit, np.arange(len(units.times) + 1)),
            votes.label,
            np.where(units.counted, 1.0, votes.weights),
            votes.tasks,
            votes.labels,
        )

    @cached_property
    def n_answers_per_task(self) -> Ints:
        """(n_tasks,) the number of answers to each task."""
        return np.diff(self.first)

    def draw_unit_indices_of_random_answers(self, task_codes: Ints, rng: np.random.Generator) -> Ints:
        """(n,) for each task code, the index of the unit of a random answer to it. Raise InputError
        for a task without answers.
        """
        size = self.n_answers_per_task[task_codes]
        if not size.all():
            raise InputError(
                f"tasks without answers: {first_few(distinct_names(self.tasks[task_codes[size == 0]]))}; leave them out"
            )
        return np.searchsorted(self.unit_end, self.first[task_codes] + rng.integers(0, size), side="right")

    def draw_label_weights_of_random_answers(self, task_codes: Ints, rng: np.random.Generator) -> Floats:
        """(n, n_labels) for each task code, the label weights of one random person's answer to that task."""
        unit = self.draw_unit_indices_of_random_answers(np.asarray(task_codes), rng)
        size = self.row_start[unit + 1] - self.row_start[unit]
        begin = np.cumsum(size) - size
        rows = np.arange(int(size.sum())) + np.repeat(self.row_start[unit] - begin, size)
        out = np.zeros((len(unit), len(self.labels)))
        out[np.repeat(np.arange(len(unit)), size), self.label[rows]] = self.weight[rows]
        return out
