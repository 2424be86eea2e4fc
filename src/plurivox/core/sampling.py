"""Fewer answers a task, and one answer at a time: what a crowd of M people would have said.

Answers, votes, soft answers and counts without names are all seen as units that can be drawn: one unit is what one person
said about one task. Units are drawn without replacement, so counts are drawn as by the hypergeometric distribution.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self, TypeVar

import numpy as np

from plurivox.core.answers import Answers
from plurivox.core.errors import InputError, OptionError, first_few
from plurivox.core.types import Bools, Floats, Ints, Names
from plurivox.core.votes import Votes

Crowd = TypeVar("Crowd", Answers, Votes)


def subsample(crowd: Crowd, m: int, seed: int = 0) -> Crowd:
    """At most `m` answers of each task, drawn at random; those of a smaller m with the same seed are among them.

    >>> votes = Votes.from_counts(np.array([[30, 20], [1, 1]]), ["a", "b"], ["no", "yes"])
    >>> subsample(votes, 4).support.tolist()
    [4.0, 2.0]
    """
    if isinstance(m, bool) or not isinstance(m, int | np.integer) or m < 0:
        raise OptionError(f"m must be a whole number, 0 or more; got {m!r}")
    note = f"at most {m} answers a task, seed {seed}"
    if isinstance(crowd, Answers):
        return crowd.where(_drawn(crowd.task, m, seed), note)
    units = Units.of(crowd)
    copy = np.repeat(np.arange(len(units.times)), units.times)  # a count of 30 is 30 people
    left = np.bincount(copy[_drawn(units.task[copy], m, seed)], minlength=len(units.times))[units.unit]  # (n_rows,)
    kept = crowd.where(left > 0)
    weight = None if crowd.weight is None else np.where(units.counted, left, crowd.weight)[left > 0]
    return replace(kept, weight=weight, notes=(*crowd.notes, note))


def _drawn(task: Ints, m: int, seed: int) -> Bools:
    """(n,) the first m of each task in a random order, which depends on the seed and not on m."""
    rng = np.random.default_rng(seed)
    order = np.lexsort((rng.random(len(task)), task))
    size = np.bincount(task) if len(task) else np.zeros(0, np.int64)
    rank = np.arange(len(task)) - np.repeat(np.cumsum(size) - size, size)
    drawn = np.zeros(len(task), bool)
    drawn[order] = rank < m
    return drawn


@dataclass(frozen=True, eq=False)
class Units:
    """Votes as what single people said: the unit of every row, the task of every unit, how many people it stands for."""

    unit: Ints  # (n_rows,) non-decreasing
    task: Ints  # (n_units,) non-decreasing
    times: Ints  # (n_units,) 1, or the count of people without a name
    counted: Bools  # (n_rows,) whether the row is such a count

    @classmethod
    def of(cls, votes: Votes) -> Self:
        """The units of votes; counts must be whole numbers."""
        begins = np.ones(len(votes), bool)
        if votes.answer is not None:
            begins[1:] = votes.answer[1:] != votes.answer[:-1]
        unit = np.cumsum(begins) - 1
        first = np.flatnonzero(begins)
        alone = np.diff(first, append=len(votes)) == 1
        counted = (votes.worker < 0) & alone[unit] if votes.weight is not None else np.zeros(len(votes), bool)
        times = np.where(counted, votes.weights, 1.0)[first]
        if (broken := times != np.floor(times)).any():
            tasks = first_few(np.unique(votes.tasks[votes.task[first[broken]]]))
            raise InputError(f"people can be drawn only from counts that are whole numbers; look at the tasks {tasks}")
        return cls(unit, votes.task[first], times.astype(np.int64), counted)


@dataclass(frozen=True, eq=False)
class OneAnswer:
    """A sampler that draws one person's whole answer each time a task is drawn.

    The arrays are a table of tables, to be used elsewhere too (on a graphics card, say): the people who answered task t
    have the places `first[t]` to `first[t + 1]` in one long queue; `unit_end` (n_units,) says where the places of each
    unit end; its rows are `row_start[u]:row_start[u + 1]` of `label` and `weight`.

    Collins, Bhatt and Weller (2022), section 5.2, https://doi.org/10.1609/hcomp.v10i1.21986.

    >>> votes = Votes.of(task=["a", "a", "b"], worker=[1, 2, 1], label=["no", "yes", "yes"])
    >>> OneAnswer.of(votes).draw(np.array([1, 1]), np.random.default_rng(0))
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
    def of(cls, votes: Votes) -> Self:
        """The sampler of votes, soft answers or counts."""
        units = Units.of(votes)
        n_people = np.bincount(units.task, units.times, minlength=votes.n_tasks).astype(np.int64)
        return cls(
            np.concatenate([[0], np.cumsum(n_people)]),
            np.cumsum(units.times),
            np.searchsorted(units.unit, np.arange(len(units.times) + 1)),
            votes.label,
            np.where(units.counted, 1.0, votes.weights),
            votes.tasks,
            votes.labels,
        )

    @cached_property
    def n_people(self) -> Ints:
        """(n_tasks,) how many answers each task has."""
        return np.diff(self.first)

    def pick(self, tasks: Ints, rng: np.random.Generator) -> Ints:
        """(n,) the unit drawn for each task code."""
        size = self.n_people[tasks]
        if not size.all():
            raise InputError(
                f"nobody answered the tasks {first_few(np.unique(self.tasks[tasks[size == 0]]))}; leave them out"
            )
        return np.searchsorted(self.unit_end, self.first[tasks] + rng.integers(0, size), side="right")

    def draw(self, tasks: Ints, rng: np.random.Generator) -> Floats:
        """(n, n_labels) one person's answer to each task code, drawn anew at every call."""
        unit = self.pick(np.asarray(tasks), rng)
        size = self.row_start[unit + 1] - self.row_start[unit]
        begin = np.cumsum(size) - size
        rows = np.arange(int(size.sum())) + np.repeat(self.row_start[unit] - begin, size)
        out = np.zeros((len(unit), len(self.labels)))
        out[np.repeat(np.arange(len(unit)), size), self.label[rows]] = self.weight[rows]
        return out
