"""Base class Form of elicitation forms, and Elicited: the votes, outcomes and flags that a form reads from answers."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from plurivox.core.answers import Answers
from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.core.inputs_asked_by_form import Question
from plurivox.core.method import Method
from plurivox.core.name_encoding import decode
from plurivox.core.parse_typed_percents import PERCENT_FLAGS
from plurivox.core.registry import Methods
from plurivox.core.votes import Votes

__all__ = ["FLAGS", "OUTCOMES", "Elicited", "Form", "methods"]

FLAGS = {  # name: (bit, what it means)
    "no-percent": (1 << 0, "no percent entered for the top label; it gets 100 minus the other percents"),
    "unreadable-percent": (1 << 1, "the text entered is not a number; treated as empty"),
    "out-of-range": (
        1 << 2,
        "a percent below 0 or above 100; clipped to 0 or 100, below 0 for the top label treated as empty",
    ),
    "repaired": (1 << 3, "a percent with a typing error that was corrected, such as 8p for 80"),
    "fraction": (1 << 4, "a percent that is not an integer; used as entered"),
    "zero-top": (1 << 5, "0 entered for the top label; treated as empty"),
    "zero-second": (1 << 6, "0 entered for the second label; it gets no weight"),
    "second-without-percent": (1 << 7, "a second label without a percent; treated as a label that was not named"),
    "second-above-top": (1 << 8, "the percent of the second label exceeds that of the top label; used as entered"),
    "named-twice": (1 << 9, "the same label named twice"),
    "contradiction": (1 << 10, "a label both named and ruled out"),
    "over-100": (1 << 11, "percents sum to more than 100; divided by their sum"),
    "no-room": (1 << 12, "percents sum to less than 100 and no other label can get the rest; divided by their sum"),
    "spread-above-top": (1 << 13, "a label that was not named gets more weight than the top label"),
    "negative": (1 << 14, "the released formula gives a negative weight; the answer is left out"),
    "set-aside-but-marked": (1 << 15, "abstained or none of these, but labels are marked; the marks are ignored"),
    "further-labels": (1 << 16, "more labels named than the form asks for; the further ones are ignored"),
    "under-100": (1 << 17, "percents of a full distribution sum to less than 100; divided by their sum"),
    "nothing-ruled-out": (1 << 18, "no label ruled out; all labels get equal weight"),
    "percent-without-label": (1 << 19, "a percent entered without a label; ignored"),
    "no-top": (1 << 20, "a second label but no top label; used as entered"),
}

OUTCOMES = ("read", "abstained", "none-of-these", "unreadable")  # Elicited.outcome holds indices into this
READ, ABSTAINED, NONE_OF_THESE, UNREADABLE = range(4)

FLAG_OF_PERCENT_FLAG = {  # name in PERCENT_FLAGS of core.parse_typed_percents -> name in FLAGS
    "unreadable": "unreadable-percent",
    "out-of-range": "out-of-range",
    "repaired": "repaired",
    "fraction": "fraction",
}


def set_flag(flags: Ints, flag_name: str, answer_mask: Bools) -> None:
    """Set the flag `flag_name` (a key of FLAGS) in the bit masks `flags` (n_answers,), in place, for the answers in a mask."""
    if answer_mask.any():
        flags[answer_mask] |= np.uint32(FLAGS[flag_name][0])


def set_answer_flags_from_percent_flags(answer_flags: Ints, percent_flags: Ints) -> None:
    """Set the flags of unusual percents in `answer_flags` (n_answers,), in place, given the flags of the parsed percents."""
    if percent_flags.any():
        for what, name in FLAG_OF_PERCENT_FLAG.items():
            set_flag(answer_flags, name, (percent_flags & PERCENT_FLAGS[what]) > 0)


@dataclass(frozen=True, eq=False)
class Shares:
    """Label weights read from answers: one row per answer and label, positive, with sum one per answer; and answer flags."""

    answer: Ints  # (n_rows,) index of the answer; the rows of an answer are contiguous
    label: Ints  # (n_rows,) increasing within an answer
    weight: Floats  # (n_rows,) above zero
    flags: Ints  # (n_answers,) sum of the bits of FLAGS

    @cached_property
    def mask_of_answers_with_label_weight(self) -> Bools:
        """(n_answers,) whether the answer gives a positive weight to any label."""
        found = np.zeros(len(self.flags), bool)
        found[self.answer] = True
        return found

    @classmethod
    def from_points_normalised_per_answer(cls, answer: Ints, label: Ints, points: Floats, flags: Ints) -> Self:
        """Return label weights: points divided by their sum per answer; the rows must be sorted by answer, then label."""
        kept = points > 0
        answer, label, points = answer[kept], label[kept], points[kept]
        total = np.bincount(answer, points, minlength=len(flags))
        return cls(answer, label, points / total[answer], flags)


@dataclass(frozen=True, eq=False)
class Elicited:
    """Votes read from answers, with the outcome (read, abstained, none-of-these, unreadable) and flags of each answer."""

    votes: Votes  # `answer` is an index into `answers`; has all tasks and workers of the answers
    answers: Answers
    outcome: Ints  # (n_answers,) index into OUTCOMES: 0 read, 1 abstained, 2 none of these, 3 unreadable
    flags: Ints  # (n_answers,) sum of the bits of FLAGS
    made_by: str

    def has_flag(self, answer_flag: str) -> Bools:
        """(n_answers,) whether each answer has the flag named `answer_flag`; raise UnknownName if no flag has that name."""
        if answer_flag not in FLAGS:
            raise unknown_name_error("flag", answer_flag, FLAGS)
        return (self.flags & FLAGS[answer_flag][0]) > 0

    @cached_property
    def outcome_counts(self) -> dict[str, int]:
        """Dict from outcome (read, abstained, none-of-these, unreadable) to its number of answers."""
        counts = np.bincount(self.outcome, minlength=len(OUTCOMES)).tolist()
        return dict(zip(OUTCOMES, counts, strict=True))

    @cached_property
    def flag_counts(self) -> dict[str, int]:
        """Dict from the name of a flag to the number of answers that have it; flags that no answer has are left out."""
        counts = {name: int(np.count_nonzero(self.flags & bit)) for name, (bit, _) in FLAGS.items()}
        return {name: n for name, n in counts.items() if n}

    def table_of_answers_without_vote(self) -> dict[str, NDArray[Any]]:
        """Return the answers that gave no vote, as columns task, worker, answer (index) and why (abstained, ...)."""
        rows = np.flatnonzero(self.outcome != READ)
        why = np.array(OUTCOMES, dtype=TEXT)[self.outcome[rows]]
        return self._task_and_worker_names(rows) | {"answer": rows, "why": why}

    def table_of_answer_flags(self) -> dict[str, NDArray[Any]]:
        """Return one row per flag of each answer, as columns task, worker, answer (index) and flag."""
        parts = [(np.flatnonzero(self.has_flag(name)), name) for name in self.flag_counts]
        rows = np.concatenate([np.zeros(0, np.int64), *(found for found, _ in parts)])
        names = np.repeat(np.array([name for _, name in parts], dtype=TEXT), [len(found) for found, _ in parts])
        order = np.argsort(rows, kind="stable")
        return self._task_and_worker_names(rows[order]) | {"answer": rows[order], "flag": names[order]}

    def outcomes_per_task(self) -> dict[str, NDArray[Any]]:
        """Return one row per task with its number of answers of each outcome: read, abstained, none-of-these, unreadable."""
        n = len(self.answers.tasks)
        counts = [np.bincount(self.answers.task[self.outcome == code], minlength=n) for code in range(len(OUTCOMES))]
        return {"task": self.answers.tasks} | dict(zip(OUTCOMES, counts, strict=True))

    def _task_and_worker_names(self, answer_index: Ints) -> dict[str, Names]:
        """Return the task and worker names of the answers at `answer_index`, as columns task and worker."""
        answers = self.answers
        return {
            "task": answers.tasks[answers.task[answer_index]],
            "worker": decode(answers.workers, answers.worker[answer_index]),
        }


@dataclass(frozen=True)
class Form(Method, ABC):
    """Base class of elicitation forms: the question put to workers, and the rule that turns an answer into label weights."""

    takes: ClassVar[frozenset[str]] = frozenset()
    asks: ClassVar[Question | None] = None  # the input fields of the question; None: the studio cannot show this form

    def read(self, answers: Answers) -> Elicited:
        """Return the votes that answers give (soft if they cover several labels), with outcome and flags of each answer."""
        if not len(answers.labels):
            raise InputError(
                f"{self.name()} needs at least one label, but no answer names one; list all labels that could be chosen "
                "(labels=..., on the command line --labels ...)"
            )
        shares = self.shares(answers)
        outcome, flags = self._outcome_and_flags_per_answer(answers, shares)
        return Elicited(_build_votes_of_read_answers(answers, shares, outcome), answers, outcome, flags, self.spec)

    @abstractmethod
    def shares(self, answers: Answers) -> Shares:
        """Return the label weights of each answer, from the labels it names, rules out or marks as possible."""

    def explain(self) -> str:
        """Return in plain sentences which label gets how much of an answer, with the options of this form."""
        return f"The form {self.spec} says how much of an answer each label gets."

    def _outcome_and_flags_per_answer(self, answers: Answers, shares: Shares) -> tuple[Ints, Ints]:
        """Return (outcome, flags), each (n_answers,): whether an answer was read, abstained, ..., and its flags as bits."""
        outcome = np.where(shares.mask_of_answers_with_label_weight, READ, UNREADABLE).astype(np.uint8)
        flags = shares.flags.copy()
        set_flag(flags, "percent-without-label", _mask_of_answers_with_percent_without_label(answers))
        is_marked = np.diff(answers.mark_start) > 0
        for column, code in ((answers.none_of_these, NONE_OF_THESE), (answers.abstain, ABSTAINED)):
            if column is not None:
                outcome[column] = code
                set_flag(flags, "set-aside-but-marked", column & is_marked)
        return outcome, flags


def _mask_of_answers_with_percent_without_label(answers: Answers) -> Bools:
    """(n_answers,) whether the answer has a percent entered in a field without a label."""
    bare = np.flatnonzero(answers.mark_label < 0)
    typed = np.strings.str_len(np.strings.strip(answers.mark_typed[bare])) > 0
    out = np.zeros(len(answers), bool)
    out[np.searchsorted(answers.mark_start, bare[typed], side="right") - 1] = True  # few: cheaper than answer_of_mark
    return out


def _build_votes_of_read_answers(answers: Answers, shares: Shares, outcome: Ints) -> Votes:
    """Return the label weights of answers whose outcome is READ as votes, sorted by task, then answer, then label."""
    answer, label, weight = shares.answer, shares.label, shares.weight
    if (outcome != READ).any():
        kept = outcome[answer] == READ
        answer, label, weight = answer[kept], label[kept], weight[kept]
    task = answers.task[answer]
    if (task[1:] < task[:-1]).any():
        order = np.argsort(task, kind="stable")
        task, answer, label, weight = task[order], answer[order], label[order], weight[order]
    times = {name: column[answer] for name in ("when", "seconds") if (column := getattr(answers, name)) is not None}
    made = {"task": task, "worker": answers.worker[answer], "label": label, "weight": weight}
    columns = {**made, "answer": answer, **times}
    for column in columns.values():  # not shared, so that Votes need not copy them
        column.flags.writeable = False
    return Votes(
        **columns,
        tasks=answers.tasks,
        workers=answers.workers,
        labels=answers.labels,
        scale=answers.scale,
        missing=int(np.count_nonzero(outcome != READ)),
    )


methods: Methods[Form] = Methods(__package__, Form)
