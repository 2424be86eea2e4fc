"""The marks of answers as columns: labels named first and second with their percents, labels ruled out."""

from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np

from plurivox.core.answers import MARK_KINDS, NAMED, Answers
from plurivox.core.typed_percents import Percents, parse_percents
from plurivox.core.types import Bools, Floats, Ints
from plurivox.elicit._contract import set_flag

Settled: TypeAlias = Literal["named", "never", "drop"]
SETTLED = "a label both named and ruled out: naming wins, ruling out wins, or the whole answer is left out"


@dataclass(frozen=True, eq=False)
class Pairs:
    """Labels of answers, one row each, in the order of the answers and of the marks within them."""

    answer: Ints  # (n_pairs,) non-decreasing
    label: Ints  # (n_pairs,)
    n_answers: int

    def where(self, keep: Bools) -> Self:
        return replace(self, answer=self.answer[keep], label=self.label[keep])

    @property
    def counts(self) -> Ints:
        """(n_answers,) how many there are of each answer."""
        return np.bincount(self.answer, minlength=self.n_answers)

    @property
    def place(self) -> Ints:
        """(n_pairs,) 0 for the first of its answer, 1 for the second, ..."""
        counts = self.counts
        return np.arange(len(self.answer)) - np.repeat(np.cumsum(counts) - counts, counts)

    def has(self, answer: Ints, label: Ints, n_labels: int) -> Bools:
        """(n,) which of these (answer, label) are among the pairs."""
        mine = self.answer.astype(np.int64) * n_labels + self.label
        return np.isin(answer.astype(np.int64) * n_labels + label, mine)

    def sorted(self, n_labels: int) -> Self:
        """Each pair once, by answer and label."""
        answer, label = np.divmod(np.unique(self.answer.astype(np.int64) * n_labels + self.label), n_labels)
        return replace(self, answer=answer, label=label)

    def again(self, n_labels: int) -> Bools:
        """(n_pairs,) which were there before in the same answer."""
        key = self.answer.astype(np.int64) * n_labels + self.label
        late = np.ones(len(key), bool)
        late[np.unique(key, return_index=True)[1]] = False
        return late


def marked(answers: Answers, kind: str) -> Pairs:
    """The marks of one kind: named, never or possible."""
    here = np.flatnonzero(_with_label(answers, kind))
    return Pairs(answers.mark_answer[here], answers.mark_label[here], len(answers))


def typed_percents(answers: Answers) -> Percents:
    """What was typed beside each label of `marked(answers, "named")`."""
    return parse_percents(answers.mark_typed[_with_label(answers, "named")])


def _with_label(answers: Answers, kind: str) -> Bools:
    """(n_marks,) the marks of one kind, without what was typed where no label was named."""
    return (answers.mark_kind == MARK_KINDS[kind]) & (answers.mark_label >= 0)


@dataclass(frozen=True, eq=False)
class Named:
    """The label at one place of each answer, and the percent typed beside it."""

    label: Ints  # (n_answers,) -1 where there is none
    percent: Floats  # (n_answers,) nan where none can be read
    odd: Ints  # (n_answers,) as Percents.flags; 0 where no label is
    ruled_out: Bools  # (n_answers,) whether the answer also rules it out


def first_two(answers: Answers) -> tuple[Named, Named, Ints]:
    """The labels named first and second of every answer, and how many each answer names."""
    from plurivox.engine.kernels import answer_weights as kernels  # compiles: not needed to know what a form asks for

    read, n = parse_percents(answers.mark_typed[answers.mark_kind == NAMED]), len(answers)
    label, place = np.full((n, 2), -1, np.int32), np.full((n, 2), len(read), np.int64)
    clash, n_named = np.zeros((n, 2), bool), np.empty(n, np.int64)
    kernels.first_two_labels(answers.mark_start, answers.mark_kind, answers.mark_label, label, place, clash, n_named)
    value, odd = np.append(read.value, np.nan), np.append(read.flags, np.uint8(0))  # the last: where no label is
    first, second = (Named(label[:, j], value[place[:, j]], odd[place[:, j]], clash[:, j]) for j in (0, 1))
    return first, second, n_named


def settle(named: Pairs, never: Pairs, rule: Settled, flags: Ints, n_labels: int) -> Bools:
    """(n_pairs,) which named labels stay once contradictions are settled; answers with one are flagged."""
    clash = never.has(named.answer, named.label, n_labels)
    hit = np.zeros(named.n_answers, bool)
    hit[named.answer[clash]] = True
    set_flag(flags, "contradiction", hit)
    return {"named": np.ones(len(clash), bool), "never": ~clash, "drop": ~hit[named.answer]}[rule]


def sorted_pairs(answer: Ints, label: Ints, points: Floats, n_labels: int) -> tuple[Ints, Ints, Floats]:
    """The same rows sorted by answer, then label."""
    order = np.argsort(answer.astype(np.int64) * n_labels + label, kind="stable")
    return answer[order], label[order], points[order]
