"""Audit: which answers, workers and tasks cleaning removed or flagged, by which rule, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import TEXT, Bools, Floats, Ints, Names, as_readonly_array
from plurivox.core.data_type_base_class import DataType
from plurivox.core.errors import InputError, first_few

AuditTarget = Literal["answer", "worker", "task"]
AuditAction = Literal["removed", "flagged"]
AuditRow = tuple[str, AuditTarget, AuditAction, str, str, int, int, float, str]  # the columns in their order
TEXT_COLUMNS = ("rule", "what", "did", "worker", "task", "reason")


@dataclass(frozen=True, eq=False, repr=False)
class Audit(DataType):
    """Log of cleaning: one row per answer, worker or task that a rule removed, or flagged and kept.

    >>> audit = Audit.of(["too-fast"], [("too-fast", "answer", "removed", "ann", "img1", 4, 1, .3, "took 0.3 seconds")])
    >>> audit
    <Audit: 1 rule, 1 answer removed>
    >>> audit.removed_and_flagged_counts_by_rule()["answers out"].tolist()
    [1]
    """

    rules: tuple[str, ...]  # all rules applied, in order, also those that found nothing
    rule: Names  # (n,)
    what: Names  # (n,) answer, worker or task
    did: Names  # (n,) removed or flagged
    worker: Names  # (n,) as text; "" for a task
    task: Names  # (n,) as text; "" for a worker
    row: Ints  # (n,) row of the answer in the input, from 0; -1 for a worker or task
    answers: Ints  # (n,) number of answers removed with it: 1 for an answer, 0 if only flagged
    value: Floats  # (n,) value measured by the rule; nan if the rule measures none
    reason: Names  # (n,) the reason as a sentence

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        for name in TEXT_COLUMNS:
            object.__setattr__(self, name, as_readonly_array(np.asarray(getattr(self, name), dtype=TEXT)))
        for name, kind in (("row", np.int64), ("answers", np.int64), ("value", np.float64)):
            object.__setattr__(self, name, as_readonly_array(np.asarray(getattr(self, name)), kind))
        for name in (*TEXT_COLUMNS, "row", "answers", "value"):
            if len(getattr(self, name)) != len(self.rule):
                raise InputError(f"{name} of an audit has {len(getattr(self, name))} values for {len(self.rule)} rows")
        for name, words in (("what", get_args(AuditTarget)), ("did", get_args(AuditAction)), ("rule", self.rules)):
            if odd := sorted(set(getattr(self, name).tolist()) - set(words)):
                raise InputError(f"{name} of an audit is one of {first_few(words, 9)}, not {first_few(odd)}")

    @classmethod
    def of(cls, rules: Sequence[str], rows: Iterable[AuditRow] = ()) -> Self:
        """Create a cleaning audit from the names of the rules applied and rows (rule, what, did, worker, task, row,
        ..., reason).
        """
        listed = list(rows)
        names = ("rule", "what", "did", "worker", "task", "row", "answers", "value", "reason")
        columns: Any = dict(zip(names, zip(*listed, strict=True), strict=True)) if listed else dict.fromkeys(names, ())
        return cls(tuple(rules), **columns)

    @classmethod
    def joined(cls, audits: Sequence["Audit"]) -> Self:
        """Return one cleaning audit with the rules and rows of several audits, one after another."""
        rules = tuple(rule for part in audits for rule in part.rules)
        return cls.of(rules, [row for part in audits for row in part._row_tuples()])

    def __len__(self) -> int:
        return len(self.rule)

    def _row_tuples(self) -> list[Any]:
        """Return the rows of the cleaning audit as tuples, values in the order of the table's columns."""
        return list(zip(*(column.tolist() for column in self.columns().values()), strict=True))

    def mask_removal_records(self, target_kind: AuditTarget) -> Bools:
        """(n_rows,) whether each row of the cleaning audit records the removal of a target of one
        kind: answer, worker or task.
        """
        return np.asarray((self.what == target_kind) & (self.did == "removed"))

    def removed_and_flagged_counts_by_rule(self) -> dict[str, NDArray[Any]]:
        """Return a table with one row per cleaning rule: the numbers of workers, tasks and answers it removed and of
        rows it flagged.
        """
        rules = tuple(dict.fromkeys(self.rules))
        place = {rule: i for i, rule in enumerate(rules)}
        code = np.array([place[rule] for rule in self.rule.tolist()], np.int64)

        def count_rows_of_each_rule_in_mask(row_mask: Bools) -> Ints:
            return np.bincount(code[row_mask], minlength=len(rules))

        out = np.bincount(code, self.answers, minlength=len(rules)).astype(np.int64)
        return {
            "rule": np.array(rules, dtype=TEXT),
            "people out": count_rows_of_each_rule_in_mask(self.mask_removal_records("worker")),
            "tasks out": count_rows_of_each_rule_in_mask(self.mask_removal_records("task")),
            "answers out": out,
            "flagged": count_rows_of_each_rule_in_mask(np.asarray(self.did == "flagged")),
        }

    def columns(self) -> dict[str, NDArray[Any]]:
        names = ("rule", "what", "did", "worker", "task", "row", "answers", "value", "reason")
        return {name: getattr(self, name) for name in names}

    def summary_values(self) -> dict[str, object]:
        flagged = int((self.did == "flagged").sum())
        return {
            "rules": len(self.rules),
            "workers removed": int(self.mask_removal_records("worker").sum()) or None,
            "tasks removed": int(self.mask_removal_records("task").sum()) or None,
            "answers removed": int(self.answers.sum()),
            "flagged": flagged or None,
        }
