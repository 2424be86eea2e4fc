"""The labels that answers name (with percents), rule out or mark as possible, as arrays of answer and label codes."""

from dataclasses import dataclass, replace
from typing import Literal, Self, TypeAlias

import numpy as np

from plurivox.core.answers import MARK_KINDS, NAMED, Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.parse_typed_percents import Percents, parse_percents
from plurivox.elicit._contract import set_flag

ContradictionRule: TypeAlias = Literal["named", "never", "drop"]
CONTRADICTION_HELP = (
    "if a label is both named and ruled out: count it as named, count it as ruled out (never), or drop the answer"
)


@dataclass(frozen=True, eq=False)
class AnswerLabels:
    """Pairs of answer and label, for example all labels that answers name, in the order of the answers."""

    answer: Ints  # (n_pairs,) non-decreasing
    label: Ints  # (n_pairs,)
    n_answers: int

    def select_answer_label_pairs(self, pair_mask: Bools) -> Self:
        """Return only the pairs of answer and label in the mask `pair_mask` (n_pairs,)."""
        return replace(self, answer=self.answer[pair_mask], label=self.label[pair_mask])

    @property
    def n_labels_per_answer(self) -> Ints:
        """(n_answers,) the number of labels paired with each answer."""
        return np.bincount(self.answer, minlength=self.n_answers)

    @property
    def position_of_label_in_answer(self) -> Ints:
        """(n_pairs,) the position of each label among the labels of its answer: 0 for the first, 1 for the second, ..."""
        counts = self.n_labels_per_answer
        return np.arange(len(self.answer)) - np.repeat(np.cumsum(counts) - counts, counts)

    def contains_answer_label_pairs(self, answer: Ints, label: Ints, n_labels: int) -> Bools:
        """(n,) whether each pair of `answer` (n,) and `label` (n,) is among the stored pairs of answer and label."""
        keys = self.answer.astype(np.int64) * n_labels + self.label
        return np.isin(answer.astype(np.int64) * n_labels + label, keys)

    def sorted_unique_answer_label_pairs(self, n_labels: int) -> Self:
        """Return each pair of answer and label once, sorted by answer, then label."""
        answer, label = np.divmod(np.unique(self.answer.astype(np.int64) * n_labels + self.label), n_labels)
        return replace(self, answer=answer, label=label)

    def is_repeat_of_earlier_label(self, n_labels: int) -> Bools:
        """(n_pairs,) whether the label of each pair occurs earlier in the same answer."""
        key = self.answer.astype(np.int64) * n_labels + self.label
        repeated = np.ones(len(key), bool)
        repeated[np.unique(key, return_index=True)[1]] = False
        return repeated


def answer_label_pairs_of_mark_kind(answers: Answers, kind: str) -> AnswerLabels:
    """Return the pairs of answer and label that are marked as `kind`: named, never (ruled out) or possible."""
    here = np.flatnonzero(_mask_of_marks_of_kind_with_label(answers, kind))
    return AnswerLabels(answers.answer_of_mark[here], answers.mark_label[here], len(answers))


def parse_percent_of_each_named_mark(answers: Answers) -> Percents:
    """Return the percents typed beside the named labels of all answers, parsed, one per named label."""
    return parse_percents(answers.mark_typed[_mask_of_marks_of_kind_with_label(answers, "named")])


def _mask_of_marks_of_kind_with_label(answers: Answers, kind: str) -> Bools:
    """(n_marks,) whether each mark of the answers is of this kind (named, never or possible) and has a label."""
    return (answers.mark_kind == MARK_KINDS[kind]) & (answers.mark_label >= 0)


@dataclass(frozen=True, eq=False)
class NamedLabel:
    """The first (or second) label that each answer names, with its percent and whether the answer also rules it out."""

    label: Ints  # (n_answers,) -1: none
    percent: Floats  # (n_answers,) nan: empty or not a number
    percent_flags: Ints  # (n_answers,) bits of Percents.flags; 0 without a label
    ruled_out: Bools  # (n_answers,) whether the answer also rules it out


def first_two_named_labels_and_label_count(answers: Answers) -> tuple[NamedLabel, NamedLabel, Ints]:
    """Return (first named label, second named label, number of named labels) of each answer."""
    from plurivox.engine.kernels import (
        label_weights_from_marks as kernels,  # imported only when needed: compiling takes time
    )

    read, n = parse_percents(answers.mark_typed[answers.mark_kind == NAMED]), len(answers)
    label, place = np.full((n, 2), -1, np.int32), np.full((n, 2), len(read), np.int64)
    clash, n_named = np.zeros((n, 2), bool), np.empty(n, np.int64)
    kernels.find_first_two_named_labels(
        answers.mark_start, answers.mark_kind, answers.mark_label, label, place, clash, n_named
    )
    value, flags = np.append(read.value, np.nan), np.append(read.flags, np.uint8(0))  # the last entry: no label
    first, second = (NamedLabel(label[:, j], value[place[:, j]], flags[place[:, j]], clash[:, j]) for j in (0, 1))
    return first, second, n_named


def flag_contradictions_and_mask_kept_labels(
    named: AnswerLabels, ruled_out: AnswerLabels, rule: ContradictionRule, flags: Ints, n_labels: int
) -> Bools:
    """(n_pairs,) whether each named label stays, by `rule` if it is also ruled out; flags such answers in `flags`, in place."""
    clash = ruled_out.contains_answer_label_pairs(named.answer, named.label, n_labels)
    hit = np.zeros(named.n_answers, bool)
    hit[named.answer[clash]] = True
    set_flag(flags, "contradiction", hit)
    return {"named": np.ones(len(clash), bool), "never": ~clash, "drop": ~hit[named.answer]}[rule]


def sort_by_answer_and_label(answer: Ints, label: Ints, points: Floats, n_labels: int) -> tuple[Ints, Ints, Floats]:
    """Return the columns `answer`, `label` and `points`, their rows sorted by answer, then label."""
    order = np.argsort(answer.astype(np.int64) * n_labels + label, kind="stable")
    return answer[order], label[order], points[order]
