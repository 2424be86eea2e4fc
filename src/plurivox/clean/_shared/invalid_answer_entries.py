"""Errors in single answers (Collins et al. 2022), and the base class of rules that look for one kind of error."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Findings, Rule
from plurivox.clean._shared.cleaning_rule_input import AnswerRows
from plurivox.core.answers import NAMED, NEVER, Answers
from plurivox.core.array_types import Bools
from plurivox.core.cleaning_audit import AuditAction
from plurivox.core.count_text import count_text
from plurivox.core.inputs_asked_by_form import input_fields_of_form_or_none
from plurivox.core.method import option
from plurivox.core.name_encoding import encode
from plurivox.core.parse_typed_percents import OUT_OF_RANGE, parse_percents


def mask_of_answers_with_percent_out_of_range(answer_rows: AnswerRows) -> Bools:
    """(n_answers,) whether an answer has a percent below 0 or above 100 beside a named label."""
    answers = _source_answers_not_votes(answer_rows)
    out_of_range = (answer_rows.parsed_percents_of_marks.flags & OUT_OF_RANGE) > 0
    return _mask_of_answers_with_any_mark(answers, _mask_of_marks_naming_label(answers) & out_of_range)


def mask_of_answers_naming_ruled_out_label(answer_rows: AnswerRows) -> Bools:
    """(n_answers,) whether an answer names a label and also rules it out."""
    answers = _source_answers_not_votes(answer_rows)
    key = answers.answer_of_mark * max(len(answers.labels), 1) + answers.mark_label
    return _mask_of_answers_with_any_mark(
        answers, _mask_of_marks_naming_label(answers) & np.isin(key, key[answers.mark_kind == NEVER])
    )


def mask_of_answers_without_top_percent(answer_rows: AnswerRows, zero_is_missing: bool = False) -> Bools:
    """(n_answers,) whether the top label has no readable percent; if `zero_is_missing`, a percent of 0 counts as none."""
    answers = _source_answers_not_votes(answer_rows)
    value = parse_percents(answers.typed_texts_at_rank(0)).value
    missing = (answer_rows.top >= 0) & (np.isnan(value) | (zero_is_missing & (value == 0)))
    for column in (answers.abstain, answers.none_of_these):
        if column is not None:
            missing &= ~column
    if answers.form is not None:
        code, forms = encode(answers.form)
        questions = map(input_fields_of_form_or_none, forms.tolist())
        missing &= np.array([question is None or question.percents for question in questions], bool)[code]
    return missing


def describe_percent_out_of_range(answer_rows: AnswerRows, answer_index: int) -> str:
    """Return the reason for removing answer `answer_index`: its first percent outside 0 to 100, quoted with its label."""
    answers, marks = _answers_and_mark_slice(answer_rows, answer_index)
    flags = _mask_of_marks_naming_label(answers, marks) & (
        answer_rows.parsed_percents_of_marks.flags[marks] & OUT_OF_RANGE > 0
    )
    at = marks.start + int(flags.argmax())
    return f"{str(answers.mark_typed[at])!r} beside {str(answers.labels[answers.mark_label[at]])!r} is outside 0 to 100"


def describe_label_named_and_ruled_out(answer_rows: AnswerRows, answer_index: int) -> str:
    """Return the reason for removing answer `answer_index`: the first label that it both names and rules out."""
    answers, marks = _answers_and_mark_slice(answer_rows, answer_index)
    kinds, labels = answers.mark_kind[marks].tolist(), answers.mark_label[marks].tolist()
    never = {label for kind, label in zip(kinds, labels, strict=True) if kind == NEVER}
    both = next(label for kind, label in zip(kinds, labels, strict=True) if kind == NAMED and label in never)
    return f"{str(answers.labels[both])!r} is named and also ruled out"


def describe_missing_percent(answer_rows: AnswerRows, answer_index: int) -> str:
    """Return the reason for removing answer `answer_index`: the text entered beside its top label instead of a percent."""
    answers, marks = _answers_and_mark_slice(answer_rows, answer_index)
    at = marks.start + answers.mark_kind[marks].tolist().index(NAMED)
    typed, top = str(answers.mark_typed[at]), str(answer_rows.labels[answer_rows.top[answer_index]])
    return f"{typed!r} beside {top!r} is not a percent" if typed.strip() else f"nothing was typed beside {top!r}"


def _answers_and_mark_slice(answer_rows: AnswerRows, answer_index: int) -> tuple[Answers, slice]:
    """Return (all answers, slice of the marks of answer `answer_index` in their columns of marks)."""
    answers = _source_answers_not_votes(answer_rows)
    return answers, slice(int(answers.mark_start[answer_index]), int(answers.mark_start[answer_index + 1]))


def _mask_of_marks_naming_label(answers: Answers, mark_slice: slice = slice(None)) -> Bools:
    """(n_marks,) whether each mark names a label; a mark with text but without a label does not."""
    return (answers.mark_kind[mark_slice] == NAMED) & (answers.mark_label[mark_slice] >= 0)


def _mask_of_answers_with_any_mark(answers: Answers, mark_mask: Bools) -> Bools:
    """(n_answers,) whether at least one mark of each answer is in `mark_mask` (n_marks,)."""
    out = np.zeros(len(answers), bool)
    out[answers.answer_of_mark[mark_mask]] = True
    return out


def _source_answers_not_votes(answer_rows: AnswerRows) -> Answers:
    """Return the `Answers` object that the rows were made from; assert that they were not made from votes."""
    assert answer_rows.answers is not None
    return answer_rows.answers


@dataclass(frozen=True)
class ErrorRule(Rule, ABC):
    """Base class of rules for one kind of error: remove or flag answers that have it, and workers with too many of them."""

    takes: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[tuple[str, ...]] = ("marks",)
    error: ClassVar[str]  # the error as text that completes "3 answers with ..."

    at_most: int | None = option(
        None,
        "remove workers with more answers that have the error than this, with all their answers; none: remove no worker",
        low=0,
    )
    answers: bool = option(True, "remove answers that have the error; if no, keep and flag them")

    @abstractmethod
    def mask_of_answers_with_error(self, answer_rows: AnswerRows) -> Bools:
        """(n_answers,) whether each answer has the kind of error that the rule looks for."""

    @abstractmethod
    def describe_error(self, answer_rows: AnswerRows, answer_index: int) -> str:
        """Return the reason for removing answer `answer_index`: what is wrong with it, as text."""

    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        errors = self.mask_of_answers_with_error(answer_rows)
        n = answer_rows.count_answers_by_worker(errors)
        too_many = np.zeros(len(n), bool) if self.at_most is None else n > self.at_most
        workers = Findings.from_mask("worker", too_many, n, lambda worker: self._too_many_errors_reason(int(n[worker])))
        did: AuditAction = "removed" if self.answers else "flagged"
        value = np.full(len(answer_rows), np.nan)
        return workers, Findings.from_mask("answer", errors, value, lambda i: self.describe_error(answer_rows, i), did)

    def _too_many_errors_reason(self, n_errors: int) -> str:
        """Return the reason for removing a worker: `n_errors` of the worker's answers have the error, more than allowed."""
        return f"{count_text(n_errors, 'answer')} with {self.error}; at most {self.at_most} allowed"
