"""Base class Rule of cleaning rules, their findings, and `clean`, which applies rules one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Generic, Self, TypeVar

import numpy as np

from plurivox.clean._shared.cleaning_rule_input import UNKNOWN, AnswerRows
from plurivox.core.answers import Answers
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.cleaning_audit import Audit, AuditAction, AuditRow, AuditTarget
from plurivox.core.errors import InputError, first_few
from plurivox.core.method import Method
from plurivox.core.name_encoding import as_text
from plurivox.core.registry import Methods
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

__all__ = ["AnswerRows", "Cleaned", "Findings", "Rule", "clean", "methods"]

A = TypeVar("A", Answers, Votes)
REQUIREMENT_HINTS = {  # name in `Rule.needs` -> the rest of the error "RULE needs ..."
    "marks": "answers with their percents and ruled-out labels, and these are votes: give the answers table",
    "gold": "known labels: give them: gold=... (--gold FILE), or a data set that has gold",
    "seconds": "the duration of each answer: give a column 'seconds' (or 'rt_ms')",
    "times": "the time of each answer, to distinguish a copy from a repeat: give a column 'seconds', 'rt_ms' or 'when'",
    "repeats": "tasks that a worker answered twice, and there are none: mark repeated answers in a column 'repeat_of' or "
    "'repeat', and apply this rule before rules that remove repeats",
    "order": "to know which answer came first, and votes are sorted: give a column 'when', or read them with "
    "repeats='first' (--repeats first)",
}


@dataclass(frozen=True, eq=False)
class Findings:
    """Answers or workers that a cleaning rule removes or flags, each with the value measured and the reason."""

    what: AuditTarget  # answer or worker
    index: Ints  # (n,) positions among the answers, or codes of the workers, of the `AnswerRows` checked
    value: Floats  # (n,) the number measured for each
    reason: Sequence[str]  # (n,)
    did: AuditAction = "removed"
    duplicate_of: Ints | None = None  # (n,) copies only: the answer that each is a copy of, which stays

    @classmethod
    def from_mask(
        cls,
        answer_or_worker: AuditTarget,
        mask: Bools,
        value: Floats | Ints,
        reason: Callable[[int], str],
        removed_or_flagged: AuditAction = "removed",
    ) -> Self:
        """Return findings for the answers (or workers) in `mask`; `reason(i)` returns the reason for the one at index i."""
        index = np.flatnonzero(mask)
        return cls(
            answer_or_worker,
            index,
            np.asarray(value, np.float64)[index],
            [reason(i) for i in index.tolist()],
            removed_or_flagged,
        )


@dataclass(frozen=True)
class Rule(Method, ABC):
    """Base class of cleaning rules, which select answers, or workers with all their answers, to remove or flag.

    `needs` names required inputs (keys of REQUIREMENT_HINTS). A rule whose `takes` contains "votes" accepts plain votes as
    well as answers. An `idempotent` rule finds nothing more when it is applied a second time.
    """

    takes: ClassVar[frozenset[str]] = frozenset({"votes"})
    needs: ClassVar[tuple[str, ...]] = ()
    idempotent: ClassVar[bool] = True

    def check_inputs_and_find_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        """Return the answers and workers that the rule would remove or flag; raise InputError if a needed input is missing."""
        for name in self.needs:
            if not _has_required_input(answer_rows, name):
                raise InputError(f"{self.name()} needs {REQUIREMENT_HINTS[name]}")
        truth = answer_rows.truth if "gold" in self.needs else None
        if truth is not None and len(truth) and (truth == UNKNOWN).all():
            raise InputError(
                f"{self.name()} needs known labels, and none of those given is for one of these tasks: "
                f"{first_few(answer_rows.tasks)}; check that both use the same task names"
            )
        return self._find_rule_violations(answer_rows)

    @abstractmethod
    def _find_rule_violations(self, answer_rows: AnswerRows) -> tuple[Findings, ...]:
        """Return the answers and workers that the rule would remove or flag; all inputs named in `needs` are present."""


def _has_required_input(answer_rows: AnswerRows, input_name: str) -> bool:
    """Return whether the answers come with an input that a rule needs, such as "gold", "seconds" or "order"."""
    match input_name:
        case "marks":
            return answer_rows.answers is not None
        case "gold":
            return answer_rows.truth is not None
        case "seconds":
            return answer_rows.seconds is not None
        case "times":
            return answer_rows.seconds is not None or answer_rows.when is not None
        case "repeats":
            marked = answer_rows.answers is not None and answer_rows.answers.repeat_of is not None
            return marked or len(answer_rows.later_and_earlier_repeat_indices[0]) > 0
        case _:
            assert input_name == "order", input_name
            return answer_rows.is_answer_order_known


@dataclass(frozen=True, eq=False)
class Cleaned(Generic[A]):
    """The answers or votes that remain after cleaning, in their original order, and the audit of those removed."""

    answers: A
    audit: Audit


def clean(answers: A, rules: Sequence[str | Rule], gold: SoftLabels | None = None) -> Cleaned[A]:
    """Apply cleaning rules in order, each to what the previous ones left; return the remaining answers or votes, and an audit.

    Removed workers are also removed from the list of workers. All tasks and labels stay, some perhaps without an answer.

    >>> answers = Answers.of(["a", "b"], ["ann", "ann"], [[("named", "cat", "170")], [("named", "dog", "80")]])
    >>> cleaned = clean(answers, ["percent-out-of-range"])
    >>> cleaned.answers
    <Answers: 1 answer, 2 tasks, 1 worker, 2 labels>
    >>> cleaned.audit.reason.tolist()
    ["'170' beside 'cat' is outside 0 to 100"]
    """
    made = [methods.make(rule) for rule in rules]
    if not made:
        raise InputError(f"name at least one rule; there are {', '.join(methods)}")
    remaining: A = answers
    source_row, audits = np.arange(len(answers)), []
    for rule in made:
        answer_rows = AnswerRows.from_answers_or_votes(remaining, gold, source_row)
        findings = rule.check_inputs_and_find_violations(answer_rows)
        workers_out, answers_out = _worker_and_answer_removal_masks(answer_rows, findings)
        audits.append(_make_audit_of_rule(rule.spec, answer_rows, findings))
        keep = ~(answers_out | np.append(workers_out, False)[answer_rows.worker])[answer_rows.answer_of_row]
        remaining = _without_removed_rows_and_workers(remaining, keep, workers_out, findings, rule.spec)
        source_row = source_row[keep]
    return Cleaned(remaining, Audit.joined(audits))


def _worker_and_answer_removal_masks(answer_rows: AnswerRows, findings: Sequence[Findings]) -> tuple[Bools, Bools]:
    """Return masks ((n_workers,) workers, (n_answers,) answers) of those that the findings of a rule remove."""
    workers_out, answers_out = np.zeros(answer_rows.n_workers, bool), np.zeros(len(answer_rows), bool)
    for each in findings:
        if each.did == "removed":
            (workers_out if each.what == "worker" else answers_out)[each.index] = True
    return workers_out, answers_out


def _make_audit_of_rule(rule: str, answer_rows: AnswerRows, findings: Sequence[Findings]) -> Audit:
    """Return the audit of one rule: a row per removed worker, per other removed answer, and per flagged worker or answer."""
    workers_out, answers_out = _worker_and_answer_removal_masks(answer_rows, findings)
    gone = {"worker": workers_out, "answer": answers_out | np.append(workers_out, False)[answer_rows.worker]}
    workload, workers = answer_rows.count_answers_by_worker(), as_text(answer_rows.workers)
    rows: list[AuditRow] = []
    listed: set[tuple[str, int]] = set()  # only the first reason for an answer or worker is listed
    for each in sorted(findings, key=lambda each: (each.did, each.what), reverse=True):  # removed, then workers, first
        of_answer = each.what == "answer"
        for i, value, reason in zip(each.index.tolist(), each.value.tolist(), each.reason, strict=True):
            worker = int(answer_rows.worker[i]) if of_answer else i
            with_worker = of_answer and worker >= 0 and bool(workers_out[worker])  # covered by the worker's row
            if with_worker or (each.did == "flagged" and gone[each.what][i]) or (each.what, i) in listed:
                continue
            listed.add((each.what, i))
            task, row = ("", -1)
            if of_answer:
                task, row = str(answer_rows.tasks[answer_rows.task[i]]), int(answer_rows.source_row[i])
            n = 0 if each.did == "flagged" else 1 if of_answer else int(workload[i])
            name = str(workers[worker]) if worker >= 0 else ""
            rows.append((rule, each.what, each.did, name, task, row, n, value, reason))
    return Audit.of([rule], rows)


def _without_removed_rows_and_workers(
    answers_or_votes: A,
    is_row_kept: Bools,
    is_worker_removed: Bools,
    findings: Sequence[Findings],
    rule_spec_for_note: str,
) -> A:
    """Return answers or votes without removed rows and workers; repeats of a removed copy now refer to its original."""
    if is_row_kept.all() and not is_worker_removed.any():
        return answers_or_votes
    if isinstance(answers_or_votes, Answers) and answers_or_votes.repeat_of is not None:
        for each in findings:
            if each.duplicate_of is not None:
                original = np.append(np.arange(len(answers_or_votes)), -1)
                original[each.index] = each.duplicate_of
                answers_or_votes = replace(answers_or_votes, repeat_of=original[answers_or_votes.repeat_of])
    new_code = np.append(np.cumsum(~is_worker_removed) - 1, -1)
    kept = answers_or_votes.where(is_row_kept)
    note = f"{rule_spec_for_note}: {int((~is_row_kept).sum()):,} of {len(is_row_kept):,} rows removed"
    return replace(
        kept,
        worker=new_code[kept.worker],
        workers=answers_or_votes.workers[~is_worker_removed],
        notes=(*answers_or_votes.notes, note),
    )


methods: Methods[Rule] = Methods(__package__, Rule)
