"""Audit: what was taken out of a data set, by which rule, and why."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray

from plurivox.core.base import DataType
from plurivox.core.errors import InputError, first_few
from plurivox.core.types import TEXT, Bools, Floats, Ints, Names, readonly_copy

What = Literal["answer", "worker", "task"]
Did = Literal["removed", "flagged"]
AuditRow = tuple[str, What, Did, str, str, int, int, float, str]  # the columns in their order
TEXTS = ("rule", "what", "did", "worker", "task", "reason")


@dataclass(frozen=True, eq=False, repr=False)
class Audit(DataType):
    """One row = one answer, worker or task that a rule removed, or flagged and left where it was.

    >>> audit = Audit.of(["too-fast"], [("too-fast", "answer", "removed", "ann", "img1", 4, 1, .3, "took 0.3 seconds")])
    >>> audit
    <Audit: 1 rule, 1 answer removed>
    >>> audit.summary()["answers out"].tolist()
    [1]
    """

    rules: tuple[str, ...]  # all that were applied, in their order; some may have found nothing
    rule: Names  # (n,)
    what: Names  # (n,) answer, worker or task
    did: Names  # (n,) removed or flagged
    worker: Names  # (n,) as text; "" for a task
    task: Names  # (n,) as text; "" for a worker
    row: Ints  # (n,) of an answer in the data as they were given, the first is 0; -1 for a worker or task
    answers: Ints  # (n,) how many answers went with it: 1 for an answer, 0 where it is only flagged
    value: Floats  # (n,) what the rule measured; nan where it measures nothing
    reason: Names  # (n,) in words

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        for name in TEXTS:
            object.__setattr__(self, name, readonly_copy(np.asarray(getattr(self, name), dtype=TEXT)))
        for name, kind in (("row", np.int64), ("answers", np.int64), ("value", np.float64)):
            object.__setattr__(self, name, readonly_copy(np.asarray(getattr(self, name)), kind))
        for name in (*TEXTS, "row", "answers", "value"):
            if len(getattr(self, name)) != len(self.rule):
                raise InputError(f"{name} of an audit has {len(getattr(self, name))} values for {len(self.rule)} rows")
        for name, words in (("what", get_args(What)), ("did", get_args(Did)), ("rule", self.rules)):
            if odd := sorted(set(getattr(self, name).tolist()) - set(words)):
                raise InputError(f"{name} of an audit is one of {first_few(words, 9)}, not {first_few(odd)}")

    @classmethod
    def of(cls, rules: Sequence[str], rows: Iterable[AuditRow] = ()) -> Self:
        """An audit of rows: rule, what, did, worker, task, row, answers, value, reason."""
        listed = list(rows)
        names = ("rule", "what", "did", "worker", "task", "row", "answers", "value", "reason")
        columns: Any = dict(zip(names, zip(*listed, strict=True), strict=True)) if listed else dict.fromkeys(names, ())
        return cls(tuple(rules), **columns)

    @classmethod
    def joined(cls, parts: Sequence["Audit"]) -> Self:
        """Several audits, one after the other."""
        rules = tuple(rule for part in parts for rule in part.rules)
        return cls.of(rules, [row for part in parts for row in part._rows()])

    def __len__(self) -> int:
        return len(self.rule)

    def _rows(self) -> list[Any]:
        return list(zip(*(column.tolist() for column in self.columns().values()), strict=True))

    def gone(self, what: What) -> Bools:
        """(n,) the rows of answers, workers or tasks that were removed."""
        return np.asarray((self.what == what) & (self.did == "removed"))

    def summary(self) -> dict[str, NDArray[Any]]:
        """A row a rule, in order: the people and tasks that are out, all answers that are out, how many are flagged."""
        rules = tuple(dict.fromkeys(self.rules))
        place = {rule: i for i, rule in enumerate(rules)}
        code = np.array([place[rule] for rule in self.rule.tolist()], np.int64)

        def count(rows: Bools) -> Ints:
            return np.bincount(code[rows], minlength=len(rules))

        out = np.bincount(code, self.answers, minlength=len(rules)).astype(np.int64)
        return {
            "rule": np.array(rules, dtype=TEXT),
            "people out": count(self.gone("worker")),
            "tasks out": count(self.gone("task")),
            "answers out": out,
            "flagged": count(np.asarray(self.did == "flagged")),
        }

    def columns(self) -> dict[str, NDArray[Any]]:
        names = ("rule", "what", "did", "worker", "task", "row", "answers", "value", "reason")
        return {name: getattr(self, name) for name in names}

    def info(self) -> dict[str, object]:
        flagged = int((self.did == "flagged").sum())
        return {
            "rules": len(self.rules),
            "workers removed": int(self.gone("worker").sum()) or None,
            "tasks removed": int(self.gone("task").sum()) or None,
            "answers removed": int(self.answers.sum()),
            "flagged": flagged or None,
        }
