"""The errors of one answer that Collins et al. (2022) look for, and what the rules about each of them share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.clean._contract import Found, Rule
from plurivox.clean._shared.answer_rows import AnswerRows
from plurivox.clean._shared.reason_text import several
from plurivox.core.answers import NAMED, NEVER, Answers
from plurivox.core.audit import AuditAction
from plurivox.core.method import option
from plurivox.core.questions import question_of
from plurivox.core.typed_percents import OUT_OF_RANGE, parse_percents
from plurivox.core.types import Bools


def outside(seen: AnswerRows) -> Bools:
    """(n,) a percent beside a named label lies below 0 or above 100."""
    answers = _answers(seen)
    return _any(answers, _named(answers) & _beyond(seen))


def contradictory(seen: AnswerRows) -> Bools:
    """(n,) a label is named and ruled out at once."""
    answers = _answers(seen)
    key = answers.mark_answer * max(len(answers.labels), 1) + answers.mark_label
    return _any(answers, _named(answers) & np.isin(key, key[answers.mark_kind == NEVER]))


def percentless(seen: AnswerRows, zero: bool = False) -> Bools:
    """(n,) the top label has no percent, or none that can be read; with `zero` also where it is 0."""
    answers = _answers(seen)
    value = parse_percents(answers.typed(0)).value
    missing = (seen.top >= 0) & (np.isnan(value) | (zero & (value == 0)))
    for column in (answers.abstain, answers.none_of_these):
        if column is not None:
            missing &= ~column
    if answers.form is not None:
        forms, code = np.unique(answers.form, return_inverse=True)
        asked = map(question_of, forms.tolist())
        missing &= np.array([one is None or one.percents for one in asked], bool)[code]
    return missing


def why_outside(seen: AnswerRows, i: int) -> str:
    """The first percent of answer i that is out of range."""
    answers, marks = _marks(seen, i)
    odd = _named(answers, marks) & (seen.percents.flags[marks] & OUT_OF_RANGE > 0)
    at = marks.start + int(odd.argmax())
    return f"{str(answers.mark_typed[at])!r} beside {str(answers.labels[answers.mark_label[at]])!r} is outside 0 to 100"


def why_contradictory(seen: AnswerRows, i: int) -> str:
    """The first label of answer i that is named and ruled out."""
    answers, marks = _marks(seen, i)
    kinds, labels = answers.mark_kind[marks].tolist(), answers.mark_label[marks].tolist()
    never = {label for kind, label in zip(kinds, labels, strict=True) if kind == NEVER}
    both = next(label for kind, label in zip(kinds, labels, strict=True) if kind == NAMED and label in never)
    return f"{str(answers.labels[both])!r} is named and also ruled out"


def why_percentless(seen: AnswerRows, i: int) -> str:
    """What stands beside the top label of answer i instead of a percent."""
    answers, marks = _marks(seen, i)
    at = marks.start + answers.mark_kind[marks].tolist().index(NAMED)
    typed, top = str(answers.mark_typed[at]), str(seen.labels[seen.top[i]])
    return f"{typed!r} beside {top!r} is no percent" if typed.strip() else f"nothing was typed beside {top!r}"


def _marks(seen: AnswerRows, i: int) -> tuple[Answers, slice]:
    """The answers, and where the marks of the i-th stand."""
    answers = _answers(seen)
    return answers, slice(int(answers.mark_start[i]), int(answers.mark_start[i + 1]))


def _named(answers: Answers, marks: slice = slice(None)) -> Bools:
    """(n_marks,) labels that are named; what was typed where none was chosen is no error of theirs."""
    return (answers.mark_kind[marks] == NAMED) & (answers.mark_label[marks] >= 0)


def _beyond(seen: AnswerRows) -> Bools:
    return (seen.percents.flags & OUT_OF_RANGE) > 0


def _any(answers: Answers, mark: Bools) -> Bools:
    """(n,) answers with at least one such mark."""
    out = np.zeros(len(answers), bool)
    out[answers.mark_answer[mark]] = True
    return out


def _answers(seen: AnswerRows) -> Answers:
    assert seen.answers is not None
    return seen.answers


@dataclass(frozen=True)
class ErrorRule(Rule, ABC):
    """A rule about one kind of error: what goes is the answers that have it, or people who make it too often."""

    takes: ClassVar[frozenset[str]] = frozenset()
    needs: ClassVar[tuple[str, ...]] = ("marks",)
    error: ClassVar[str]  # what an answer has that should not be, after "answer with"

    at_most: int | None = option(
        None, "people with more such answers go, with all their answers; none: nobody does", low=0
    )
    answers: bool = option(True, "such answers go, of whomever; if no, they stay and are flagged")

    @abstractmethod
    def faulty(self, seen: AnswerRows) -> Bools:
        """(n,) the answers with the error."""

    @abstractmethod
    def why(self, seen: AnswerRows, i: int) -> str:
        """What is wrong with answer i."""

    def _check(self, seen: AnswerRows) -> tuple[Found, ...]:
        faulty = self.faulty(seen)
        n = seen.tally(faulty)
        many = np.zeros(len(n), bool) if self.at_most is None else n > self.at_most
        people = Found.where("worker", many, n, lambda who: self._too_many(int(n[who])))
        did: AuditAction = "removed" if self.answers else "flagged"
        said = np.full(len(seen), np.nan)
        return people, Found.where("answer", faulty, said, lambda i: self.why(seen, i), did)

    def _too_many(self, n: int) -> str:
        return f"{several(n, 'answer')} with {self.error}; at most {self.at_most} may be"
