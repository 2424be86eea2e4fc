"""What every form is, and what it gives back: the shares of answers, their flags, and the votes."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.answers import Answers
from plurivox.core.encoding import decode
from plurivox.core.errors import InputError, unknown_name
from plurivox.core.method import Method
from plurivox.core.questions import Question
from plurivox.core.registry import Methods
from plurivox.core.typed_percents import PERCENT_FLAGS
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names
from plurivox.core.votes import Votes

__all__ = ["FLAGS", "OUTCOMES", "Elicited", "Form", "methods"]

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

OUTCOMES = ("read", "abstained", "none-of-these", "unreadable")  # what became of an answer
READ, ABSTAINED, NONE_OF_THESE, UNREAD = range(4)

OF_PERCENTS = {  # what percents() finds odd -> our flag
    "unreadable": "unreadable-percent",
    "out-of-range": "out-of-range",
    "repaired": "repaired",
    "fraction": "fraction",
}


def set_flag(flags: Ints, name: str, where: Bools) -> None:
    """Raise a flag in place."""
    if where.any():
        flags[where] |= np.uint32(FLAGS[name][0])


def raise_odd(flags: Ints, odd: Ints) -> None:
    """Raise the flags of percents that were read: `odd` (n_answers,) as `Percents.flags`."""
    if odd.any():
        for what, name in OF_PERCENTS.items():
            set_flag(flags, name, (odd & PERCENT_FLAGS[what]) > 0)


@dataclass(frozen=True, eq=False)
class Shares:
    """What answers put on labels: weights above zero that sum to one for each answer, and what was odd about it."""

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

    @classmethod
    def of_points(cls, answer: Ints, label: Ints, points: Floats, flags: Ints) -> Self:
        """Points on labels (`answer` and `label` sorted, each pair once), divided by the sum of each answer."""
        kept = points > 0
        answer, label, points = answer[kept], label[kept], points[kept]
        total = np.bincount(answer, points, minlength=len(flags))
        return cls(answer, label, points / total[answer], flags)


@dataclass(frozen=True, eq=False)
class Elicited:
    """Votes read off answers, what was odd about each answer, and which of them say nothing about labels."""

    votes: Votes  # `answer` is the place of the answer in `answers`; all tasks and workers of the answers are there
    answers: Answers
    fate: Ints  # (n_answers,) 0 read, 1 abstained, 2 none of these, 3 unreadable
    flags: Ints  # (n_answers,) sum of the bits of FLAGS
    made_by: str

    def has(self, flag: str) -> Bools:
        """(n_answers,) which answers carry a flag."""
        if flag not in FLAGS:
            raise unknown_name("flag", flag, FLAGS)
        return (self.flags & FLAGS[flag][0]) > 0

    @cached_property
    def fates(self) -> dict[str, int]:
        """How many answers were read, and how many are kept apart, by why."""
        counts = np.bincount(self.fate, minlength=len(OUTCOMES)).tolist()
        return dict(zip(OUTCOMES, counts, strict=True))

    @cached_property
    def odd(self) -> dict[str, int]:
        """How many answers carry each flag, without the flags that nobody carries."""
        counts = {name: int(np.count_nonzero(self.flags & bit)) for name, (bit, _) in FLAGS.items()}
        return {name: n for name, n in counts.items() if n}

    def apart(self) -> dict[str, NDArray[Any]]:
        """The answers that became no vote, a row each: task, worker, answer (its place), why."""
        rows = np.flatnonzero(self.fate != READ)
        why = np.array(OUTCOMES, dtype=TEXT)[self.fate[rows]]
        return self._who(rows) | {"answer": rows, "why": why}

    def flagged(self) -> dict[str, NDArray[Any]]:
        """The odd answers, a row for each flag: task, worker, answer (its place), flag."""
        parts = [(np.flatnonzero(self.has(name)), name) for name in self.odd]
        rows = np.concatenate([np.zeros(0, np.int64), *(found for found, _ in parts)])
        names = np.repeat(np.array([name for _, name in parts], dtype=TEXT), [len(found) for found, _ in parts])
        order = np.argsort(rows, kind="stable")
        return self._who(rows[order]) | {"answer": rows[order], "flag": names[order]}

    def per_task(self) -> dict[str, NDArray[Any]]:
        """A row a task: how many of its answers were read, abstained, said none of these, could not be read."""
        n = len(self.answers.tasks)
        counts = [np.bincount(self.answers.task[self.fate == fate], minlength=n) for fate in range(len(OUTCOMES))]
        return {"task": self.answers.tasks} | dict(zip(OUTCOMES, counts, strict=True))

    def _who(self, rows: Ints) -> dict[str, Names]:
        answers = self.answers
        return {"task": answers.tasks[answers.task[rows]], "worker": decode(answers.workers, answers.worker[rows])}


@dataclass(frozen=True)
class Form(Method, ABC):
    """A question put to people, and how an answer to it becomes weights on labels that sum to one."""

    takes: ClassVar[frozenset[str]] = frozenset()
    asks: ClassVar[Question | None] = None  # what it asks for; None: the studio cannot ask in it

    def read(self, answers: Answers) -> Elicited:
        """Every answer as a vote, soft where it spreads over several labels; odd ones are flagged, never an error."""
        if not len(answers.labels):
            raise InputError(
                f"{self.name()} needs at least one label, and these answers name none: list all labels that could be chosen "
                "(labels=..., on the command line --labels ...)"
            )
        shares = self.shares(answers)
        fate, flags = self._fates(answers, shares)
        return Elicited(_votes(answers, shares, fate), answers, fate, flags, self.spec)

    @abstractmethod
    def shares(self, answers: Answers) -> Shares:
        """What each answer puts on labels, whether or not it abstains."""

    def _fates(self, answers: Answers, shares: Shares) -> tuple[Ints, Ints]:
        fate = np.where(shares.said, READ, UNREAD).astype(np.uint8)
        flags = shares.flags.copy()
        set_flag(flags, "percent-without-label", _typed_beside_nothing(answers))
        marked = np.diff(answers.mark_start) > 0
        for column, what in ((answers.none_of_these, NONE_OF_THESE), (answers.abstain, ABSTAINED)):
            if column is not None:
                fate[column] = what
                set_flag(flags, "set-aside-but-marked", column & marked)
        return fate, flags


def _typed_beside_nothing(answers: Answers) -> Bools:
    """(n_answers,) whether something was typed where no label was named."""
    bare = np.flatnonzero(answers.mark_label < 0)
    typed = np.strings.str_len(np.strings.strip(answers.mark_typed[bare])) > 0
    out = np.zeros(len(answers), bool)
    out[np.searchsorted(answers.mark_start, bare[typed], side="right") - 1] = True  # few: no need for mark_answer
    return out


def _votes(answers: Answers, shares: Shares, fate: Ints) -> Votes:
    """Rows in the order of votes: by task, then answer, then label."""
    answer, label, weight = shares.answer, shares.label, shares.weight
    if (fate != READ).any():
        kept = fate[answer] == READ
        answer, label, weight = answer[kept], label[kept], weight[kept]
    task = answers.task[answer]
    if (task[1:] < task[:-1]).any():
        order = np.argsort(task, kind="stable")
        task, answer, label, weight = task[order], answer[order], label[order], weight[order]
    times = {name: column[answer] for name in ("when", "seconds") if (column := getattr(answers, name)) is not None}
    made = {"task": task, "worker": answers.worker[answer], "label": label, "weight": weight}
    columns = {**made, "answer": answer, **times}
    for column in columns.values():  # ours alone: no need for a copy
        column.flags.writeable = False
    return Votes(
        **columns,
        tasks=answers.tasks,
        workers=answers.workers,
        labels=answers.labels,
        scale=answers.scale,
        missing=int(np.count_nonzero(fate != READ)),
    )


methods: Methods[Form] = Methods(__package__, Form)
