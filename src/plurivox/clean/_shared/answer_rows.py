"""Entered: what people entered, a row an answer, whether it came through a form (Answers) or as votes."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.answers import Answers
from plurivox.core.encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.typed_percents import Percents, parse_percents
from plurivox.core.types import Bools, Floats, Ints, Names
from plurivox.core.votes import Votes

UNKNOWN, STRANGE = -1, -2  # no known label; a known label that nobody could choose


@dataclass(frozen=True, eq=False)
class AnswerRows:
    """The one face of answers and votes that rules look at: n answers, of which votes may need several rows each."""

    task: Ints  # (n,) code into `tasks`
    worker: Ints  # (n,) code into `workers`; -1 where nobody is named
    top: Ints  # (n,) code of the label named first, or with the most weight; -1: none, can't tell, none of these
    tasks: Names
    workers: Names
    labels: Names
    unit: Ints  # (n_rows,) the answer that each row belongs to
    row: Ints  # (n,) where each answer begins in the source, before any rule took something out
    seconds: Floats | None = None  # (n,)
    when: Floats | None = None  # (n,)
    answers: Answers | None = None  # with all their marks; None where these are votes
    votes: Votes | None = None
    truth: Ints | None = None  # (n_tasks,) code of the known label, UNKNOWN or STRANGE; None: nothing is known

    @classmethod
    def of(cls, given: Answers | Votes, gold: SoftLabels | None = None, source: Ints | None = None) -> Self:
        """The view of answers or votes, with the labels that are known of their tasks.

        `source` (n_rows,) says where each row stood before other rules took some out.
        """
        unit, first = (np.arange(len(given)),) * 2 if isinstance(given, Answers) else _units(given)
        about = {name: None if (c := getattr(given, name)) is None else c[first] for name in ("seconds", "when")}
        return cls(
            task=given.task[first],
            worker=given.worker[first],
            top=_first_named(given) if isinstance(given, Answers) else _heaviest(given, unit, first),
            tasks=given.tasks,
            workers=given.workers,
            labels=given.labels,
            unit=unit,
            row=first if source is None else source[first],
            seconds=about["seconds"],
            when=about["when"],
            answers=given if isinstance(given, Answers) else None,
            votes=given if isinstance(given, Votes) else None,
            truth=None if gold is None else _truth(given, gold),
        )

    def __len__(self) -> int:
        return len(self.task)

    @property
    def n_workers(self) -> int:
        return len(self.workers)

    @cached_property
    def percents(self) -> Percents:
        """(n_marks,) what was typed beside each mark, as numbers."""
        assert self.answers is not None
        return parse_percents(self.answers.mark_typed)

    def tally(self, which: Bools | None = None) -> Ints:
        """(n_workers,) how many of these answers each worker gave; without any, of all."""
        mine = self.worker >= 0 if which is None else which & (self.worker >= 0)
        return np.bincount(self.worker[mine], minlength=self.n_workers)

    # ---- who said what when

    @property
    def is_ordered(self) -> bool:
        """Whether it is known which of two answers came first. Votes are sorted, so only their times can tell."""
        return self.answers is not None or (self.when is not None and bool(np.isfinite(self.when).all()))

    @cached_property
    def came(self) -> Ints:
        """(n,) the answers in the order they came, person by person and task by task.

        By time where every time is known; else by sitting and position where they are; else as they stand.
        """
        keys: list[Ints | Floats] = [np.arange(len(self))]
        if self.answers is not None and self.answers.position is not None:
            keys.append(self.answers.position)
            if self.answers.sitting is not None:
                _, begins, code = np.unique(self.answers.sitting, return_index=True, return_inverse=True)
                keys.append(begins[code])  # sittings in the order in which they first turn up
        if self.when is not None and np.isfinite(self.when).all():
            keys.append(self.when)
        return np.lexsort([*keys, self.task, self.worker])

    def earlier(self, which: Bools | None = None) -> Ints:
        """(n,) the same person's latest earlier answer to the same task, -1 where there is none; only among `which`."""
        order = self.came if which is None else self.came[which[self.came]]
        a, b = order[:-1], order[1:]
        same = (self.worker[a] == self.worker[b]) & (self.task[a] == self.task[b]) & (self.worker[a] >= 0)
        out = np.full(len(self), -1)
        out[b[same]] = a[same]
        return out

    @property
    def marked(self) -> Bools:
        """(n,) answers that repeat an earlier one on purpose; votes bear no such mark."""
        if self.answers is None or self.answers.repeat_of is None:
            return np.zeros(len(self), bool)
        return np.asarray(self.answers.repeat_of >= 0)

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """(later, earlier): answers of one person to one task, as marked; without any mark all that are there."""
        if self.answers is not None and self.answers.repeat_of is not None:
            later = np.flatnonzero(self.marked)
            return later, self.answers.repeat_of[later]
        earlier = self.earlier()
        later = np.flatnonzero(earlier >= 0)
        return later, earlier[later]

    def content(self, which: Bools) -> Ints:
        """A number for all that was entered in each of these answers: those with the same number say exactly the same."""
        if self.answers is None:
            assert self.votes is not None
            rows = np.flatnonzero(which[self.unit])
            unit = (np.cumsum(which) - 1)[self.unit[rows]]
            order = np.lexsort((self.votes.label[rows], unit))
            start = np.searchsorted(unit[order], np.arange(int(which.sum()) + 1))
            said = joint(self.votes.label[rows], self.votes.weights[rows])
            return _sequences(said[order], start)
        a = self.answers.where(which)
        marks = _sequences(joint(a.mark_kind, a.mark_label, a.mark_typed), a.mark_start)
        return joint(marks, *(c for c in (a.form, a.abstain, a.none_of_these) if c is not None))

    # ---- what is known

    @cached_property
    def right(self) -> Floats:
        """(n,) 1 where the top label is the known one, 0 where it is not; nan where nothing is known, and for "can't tell"."""
        assert self.truth is not None
        true = self.truth[self.task]
        told = true != UNKNOWN
        if self.answers is not None and self.answers.abstain is not None:
            told &= ~self.answers.abstain
        return np.where(told, (self.top == true).astype(np.float64), np.nan)

    def accuracy(self) -> tuple[Floats, Ints]:
        """(n_workers,) the share of right answers among those to known tasks, nan without any; and how many those are."""
        known = ~np.isnan(self.right)
        n, hits = self.tally(known), self.tally(known & (self.right == 1))
        return np.where(n > 0, hits / np.maximum(n, 1), np.nan), n


def _units(votes: Votes) -> tuple[Ints, Ints]:
    """(unit, first): the answer of each row, numbered as they stand, and the first row of each."""
    if votes.answer is None:
        return np.arange(len(votes)), np.arange(len(votes))
    _, first, code = np.unique(votes.answer, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(first), np.int64)
    rank[order] = np.arange(len(first))
    return rank[code], first[order]


def _first_named(answers: Answers) -> Ints:
    """(n,) the label named first; none where the answer is "can't tell" or "none of these", whatever is marked beside."""
    top = answers.named(0)
    for aside in (answers.abstain, answers.none_of_these):
        if aside is not None:
            top[aside] = -1
    return top


def _heaviest(votes: Votes, unit: Ints, first: Ints) -> Ints:
    """(n,) the label with the most weight in each answer, the earlier one of a tie."""
    if len(first) == len(votes):
        return votes.label.astype(np.int64)
    order = np.lexsort((votes.label, -votes.weights, unit))
    return votes.label[order][np.searchsorted(unit[order], np.arange(len(first)))].astype(np.int64)


def _truth(given: Answers | Votes, gold: SoftLabels) -> Ints:
    """(n_tasks,) the most probable label of the known tasks, as a code of the labels given."""
    here = positions(gold.tasks, given.tasks)
    code = positions(given.labels, gold.hard())
    return np.where(here < 0, UNKNOWN, np.where(code < 0, STRANGE, code)[here])


def joint(*columns: NDArray[Any]) -> Ints:
    """(n,) a small number for each row: rows that are equal in every column have the same.

    >>> joint(np.array([5, 5, 7]), np.array([0.5, 0.5, 0.5])).tolist()
    [0, 0, 1]
    """
    code: Ints = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        values, place = np.unique(column, return_inverse=True)
        code = np.unique(code * max(len(values), 1) + place, return_inverse=True)[1]
    return code


def _sequences(items: Ints, start: Ints) -> Ints:
    """(n,) equal numbers for equal lists, where list i is items[start[i]:start[i + 1]]."""
    size = np.diff(start)
    code = joint(size)
    for place in range(int(size.max(initial=0))):
        long = np.flatnonzero(size > place)
        item = np.zeros(len(size), np.int64)
        item[long] = items[start[long] + place] + 1
        code = joint(code, item)
    return code
