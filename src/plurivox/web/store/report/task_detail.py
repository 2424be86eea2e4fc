"""One task, its soft label and every answer to it."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from plurivox.web.store.collect.sittings import TASK_COLUMNS, ShownTask
from plurivox.web.store.collect.submissions import Mark, marks_of
from plurivox.web.store.errors import NotFound
from plurivox.web.store.ids import decode_id
from plurivox.web.store.report.soft_labels import SoftLabel, TaskLine, load_soft, task_line, task_row
from plurivox.web.store.schema import answers, flags, media, sittings, slots, tasks, workers

EACH_ANSWER = (
    select(answers, slots.c.kind, slots.c.position, slots.c.repeat_of, slots.c.state, slots.c.answer_id.label("latest"))
    .add_columns(tasks.c.name.label("task"), workers.c.pseudonym.label("worker"), sittings.c.number.label("sitting"))
    .add_columns(workers.c.arm)
    .select_from(answers.join(slots, slots.c.id == answers.c.slot_id))
    .join(tasks, tasks.c.id == answers.c.task_id)
    .join(workers, workers.c.id == answers.c.worker_id)
    .join(sittings, sittings.c.id == slots.c.sitting_id)
    .order_by(answers.c.id)
)


@dataclass(frozen=True)
class TaskAnswer:
    """The last answer of a slot, as it was given."""

    answer: str
    worker: str
    when: float
    seconds: float | None  # from shown to submitted in which the page was seen
    marks: list[Mark]
    abstain: bool
    none_of_these: bool
    position: int
    repeat: bool
    extra: bool
    excluded: bool  # its person was excluded
    flags: list[str]


@dataclass(frozen=True)
class TaskDetail:
    """One task, what it shows, its soft label and every answer to it."""

    line: TaskLine
    shown: ShownTask
    soft: list[SoftLabel]  # every label
    answers: list[TaskAnswer]


def task_detail(connection: Connection, task: str) -> TaskDetail:
    """One task with every answer to it that counts."""
    row = task_row(connection, decode_id(task))
    if row is None:
        raise NotFound("task")
    content = select(*TASK_COLUMNS).select_from(tasks.outerjoin(media, media.c.id == tasks.c.media_id))
    seen = connection.execute(content.where(tasks.c.id == row.id)).one()
    said = EACH_ANSWER.add_columns(flags.c.flags).outerjoin(flags, flags.c.answer_id == answers.c.id)
    said = said.where(answers.c.task_id == row.id, slots.c.answer_id == answers.c.id, slots.c.kind != "practice")
    return TaskDetail(
        line=task_line(row),
        shown=ShownTask.of(seen),
        soft=load_soft(row.soft),
        answers=[_answer(one) for one in connection.execute(said)],
    )


def _answer(row: Any) -> TaskAnswer:
    return TaskAnswer(
        answer=str(row.id),
        worker=row.worker,
        when=row.received,
        seconds=None if row.submitted_ms is None else max(0.0, row.submitted_ms - row.hidden_ms) / 1000,
        marks=marks_of(row.marks),
        abstain=bool(row.abstain),
        none_of_these=bool(row.none_of_these),
        position=row.position,
        repeat=row.kind == "repeat",
        extra=bool(row.extra),
        excluded=row.state == "excluded",
        flags=json.loads(row.flags or "[]"),
    )
