"""The work of each person for pay: all answers and visits, read incrementally."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from plurivox.web.store.database import batched
from plurivox.web.store.report.column_log import AT_ONCE, Columns, concatenate, new_rows, since
from plurivox.web.store.schema import answers, exclusions, slots, visits, workers

GIVEN = (
    select(answers.c.id, answers.c.slot_id, answers.c.worker_id, answers.c.task_id, answers.c.received)
    .add_columns(answers.c.submitted_ms, answers.c.hidden_ms, slots.c.kind, slots.c.answer_id, answers.c.marks)
    .join(slots, slots.c.id == answers.c.slot_id)
    .order_by(answers.c.id)
)
SPENT = select(visits.c.id, visits.c.worker_id, visits.c.at, visits.c.ms).order_by(visits.c.id)
EXCLUDED = select(exclusions.c.worker_id, exclusions.c.rule).where(exclusions.c.lifted.is_(None))
ANSWER: dict[str, Any] = {"id": np.int64, "slot": np.int64, "worker": np.int64, "task": np.int64, "at": np.float64}
ANSWER |= {"ms": np.float64, "is_task": np.bool_, "counts": np.bool_, "label": np.int32}
VISIT: dict[str, Any] = {"id": np.int64, "worker": np.int64, "at": np.float64, "ms": np.float64}


class Worked:
    """All answers, replaced ones and practice too, and all visits to pages; what has come since is added."""

    def __init__(self) -> None:
        self.given: Columns = {name: np.zeros(0, kind) for name, kind in ANSWER.items()}
        self.visited: Columns = {name: np.zeros(0, kind) for name, kind in VISIT.items()}
        self.excluded: dict[int, str] = {}  # worker: the rule
        self.people: dict[int, tuple[str, float]] = {}  # worker: pseudonym, when they came
        self._labels: dict[str, int] = {}

    def read_on(self, connection: Connection) -> bool:
        """Read what is new; whether anything is."""
        new = self._answers(connection)
        seen = self._visits(connection)
        excluded = {row.worker_id: row.rule for row in connection.execute(EXCLUDED)}
        changed = bool(new or seen or excluded != self.excluded)
        self.excluded = excluded
        ids = {*np.unique(self.given["worker"]).tolist()} - self.people.keys()
        for part in batched(sorted(ids), 500):
            who = select(workers.c.id, workers.c.pseudonym, workers.c.born).where(workers.c.id.in_(part))
            self.people |= {row.id: (row.pseudonym, row.born) for row in connection.execute(who)}
        return changed

    def _answers(self, connection: Connection) -> int:
        wanted = GIVEN.where(answers.c.id > since(connection, self.given))
        rows = connection.execute(wanted.execution_options(yield_per=AT_ONCE))
        new = new_rows([self._part(part) for part in rows.partitions()], self.given)
        if new is None:
            return 0
        self.given["counts"][np.isin(self.given["slot"], new["slot"])] = False  # the last word on a slot is a new one
        self.given = concatenate([self.given, new])
        return len(new["id"])

    def _part(self, rows: Sequence[Any]) -> Columns:
        ids, slot, worker, task, at, submitted, hidden, kind, latest, marks = zip(*rows, strict=True)
        spent = np.array(submitted, np.float64) - np.array(hidden, np.float64)  # None becomes nan
        kinds = np.array(kind)
        values = (ids, slot, worker, task, at, np.maximum(0.0, np.nan_to_num(spent)), kinds == "task")
        counts = (np.array(latest, np.float64) == np.array(ids)) & (kinds != "practice")
        said = [self._labels.setdefault(label, len(self._labels)) if (label := top_of(one)) else -1 for one in marks]
        return {name: np.array(one, ANSWER[name]) for name, one in zip(ANSWER, (*values, counts, said), strict=True)}

    def _visits(self, connection: Connection) -> int:
        wanted = SPENT.where(visits.c.id > since(connection, self.visited))
        rows = connection.execute(wanted.execution_options(yield_per=AT_ONCE))
        parts = [
            {name: np.array(one, VISIT[name]) for name, one in zip(VISIT, zip(*part, strict=True), strict=True)}
            for part in rows.partitions()
        ]
        new = new_rows(parts, self.visited)
        if new is None:
            return 0
        self.visited = concatenate([self.visited, new | {"ms": np.nan_to_num(new["ms"])}])
        return len(new["id"])


def top_of(marks: str) -> str:
    """The label that was named first; empty where none was."""
    return next((label for kind, label, _ in json.loads(marks) if kind == "named"), "")
