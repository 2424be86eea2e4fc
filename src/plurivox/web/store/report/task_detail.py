"""The detail page of a task: its content, its soft label and every answer to it."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from plurivox.web.store.collect.sittings_and_leased_slots import TASK_COLUMNS, ShownTask
from plurivox.web.store.collect.submissions import Mark, label_marks_from_json
from plurivox.web.store.errors import NotFound
from plurivox.web.store.random_ids import decode_id
from plurivox.web.store.report.stored_soft_labels_and_task_list import (
    SoftLabel,
    TaskLine,
    get_row_of_task_with_newest_soft_label,
    soft_label_intervals_from_json,
    task_list_line_from_row,
)
from plurivox.web.store.schema import answers, flags, media, sittings, slots, tasks, workers

ALL_ANSWERS = (
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
    """One worker's latest answer to a task, as entered, for the detail page of the task."""

    answer: str
    worker: str
    when: float
    seconds: float | None  # from shown to submitted, without the time in which the page was hidden
    marks: list[Mark]
    abstain: bool
    none_of_these: bool
    position: int
    repeat: bool
    extra: bool
    excluded: bool  # its worker was excluded
    flags: list[str]


@dataclass(frozen=True)
class TaskDetail:
    """A task with its content, its soft label and every answer to it."""

    line: TaskLine
    shown: ShownTask
    soft: list[SoftLabel]  # every label
    answers: list[TaskAnswer]


def get_task_soft_label_and_latest_answers(connection: Connection, task_id: str) -> TaskDetail:
    """Return a task with its soft label and the latest answer of each slot; raise NotFound if the id is unknown."""
    row = get_row_of_task_with_newest_soft_label(connection, decode_id(task_id))
    if row is None:
        raise NotFound("task")
    content = select(*TASK_COLUMNS).select_from(tasks.outerjoin(media, media.c.id == tasks.c.media_id))
    shown = connection.execute(content.where(tasks.c.id == row.id)).one()
    latest = ALL_ANSWERS.add_columns(flags.c.flags).outerjoin(flags, flags.c.answer_id == answers.c.id)
    latest = latest.where(answers.c.task_id == row.id, slots.c.answer_id == answers.c.id, slots.c.kind != "practice")
    return TaskDetail(
        line=task_list_line_from_row(row),
        shown=ShownTask.from_row(shown),
        soft=soft_label_intervals_from_json(row.soft),
        answers=[_task_answer_from_row(one) for one in connection.execute(latest)],
    )


def _task_answer_from_row(row: Any) -> TaskAnswer:
    """Convert a database row of an answer and its flags to a TaskAnswer."""
    return TaskAnswer(
        answer=str(row.id),
        worker=row.worker,
        when=row.received,
        seconds=None if row.submitted_ms is None else max(0.0, row.submitted_ms - row.hidden_ms) / 1000,
        marks=label_marks_from_json(row.marks),
        abstain=bool(row.abstain),
        none_of_these=bool(row.none_of_these),
        position=row.position,
        repeat=row.kind == "repeat",
        extra=bool(row.extra),
        excluded=row.state == "excluded",
        flags=json.loads(row.flags or "[]"),
    )
