"""The detail page of a task: its content, its soft label and every answer to it."""

import json
import math
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from plurivox.web.store.collect.sittings_and_leased_slots import TASK_COLUMNS, ShownTask
from plurivox.web.store.collect.submissions import Mark, label_marks_from_json
from plurivox.web.store.errors import NotFound
from plurivox.web.store.random_ids import decode_id
from plurivox.web.store.report.answer_kinds import ANSWER_KIND, AnswerKind
from plurivox.web.store.report.answer_times import HANDED_OUT, active_times_of_answers, time_columns_of_answer_rows
from plurivox.web.store.report.result_snapshots import (
    get_latest_or_default_result_snapshot,
    was_worker_excluded_or_reinstated_since,
)
from plurivox.web.store.report.stored_soft_labels_and_task_list import (
    LabelProbability,
    SoftLabel,
    TaskLine,
    get_row_of_task_with_newest_soft_label,
    label_probabilities_from_json,
    soft_label_intervals_from_json,
    task_list_line_from_row,
)
from plurivox.web.store.schema import answers, flags, media, sittings, slots, tasks, workers

ALL_ANSWERS = (
    select(answers, slots.c.kind, slots.c.position, slots.c.repeat_of, slots.c.state, ANSWER_KIND.label("counted_as"))
    .add_columns(tasks.c.name.label("task"), workers.c.pseudonym.label("worker"), sittings.c.number.label("sitting"))
    .add_columns(workers.c.arm, HANDED_OUT)
    .select_from(answers.join(slots, slots.c.id == answers.c.slot_id))
    .join(tasks, tasks.c.id == answers.c.task_id)
    .join(workers, workers.c.id == answers.c.worker_id)
    .join(sittings, sittings.c.id == slots.c.sitting_id)
    .order_by(answers.c.id)
)


@dataclass(frozen=True)
class TaskAnswer:
    """One worker's answer to a task, as entered, for the detail page of the task."""

    answer: str
    worker: str
    when: float
    seconds: float | None  # active: from shown to submitted, without hidden time; None if unknown or impossible
    marks: list[Mark]
    abstain: bool
    none_of_these: bool
    position: int
    form: str  # of `elicit`
    counted_as: AnswerKind
    flags: list[str]


@dataclass(frozen=True)
class TaskDetail:
    """A task with its content, its soft label and every answer to it."""

    line: TaskLine
    shown: ShownTask
    soft: list[SoftLabel]  # people: every label
    truth: list[LabelProbability]  # every label; empty if not computed yet
    n: int  # answers that the soft labels are computed from
    is_outdated: bool  # whether since then an answer came or was changed, or a worker was excluded or reinstated
    answers: list[TaskAnswer]


def get_task_with_soft_label_and_all_answers(connection: Connection, task_id: str) -> TaskDetail:
    """Return a task with its soft label and every answer, replaced ones too; raise NotFound if the id is unknown."""
    row = get_row_of_task_with_newest_soft_label(connection, decode_id(task_id))
    if row is None:
        raise NotFound("task")
    content = select(*TASK_COLUMNS).select_from(tasks.outerjoin(media, media.c.id == tasks.c.media_id))
    shown = connection.execute(content.where(tasks.c.id == row.id)).one()
    given = ALL_ANSWERS.add_columns(flags.c.flags).outerjoin(flags, flags.c.answer_id == answers.c.id)
    rows = connection.execute(given.where(answers.c.task_id == row.id)).all()
    seconds = active_times_of_answers(time_columns_of_answer_rows(rows)).believable_seconds.tolist()
    latest = get_latest_or_default_result_snapshot(connection)
    return TaskDetail(
        line=task_list_line_from_row(row),
        shown=ShownTask.from_row(shown),
        soft=soft_label_intervals_from_json(row.soft),
        truth=label_probabilities_from_json(row.truth),
        n=row.n,
        is_outdated=(
            any(one.id > latest.last_answer for one in rows)
            or was_worker_excluded_or_reinstated_since(connection, latest)
        ),
        answers=[_task_answer_from_row(one, spent) for one, spent in zip(rows, seconds, strict=True)],
    )


def _task_answer_from_row(row: Any, seconds: float) -> TaskAnswer:
    """Convert a database row of an answer and its flags to a TaskAnswer; `seconds` is its active time, nan if unknown."""
    return TaskAnswer(
        answer=str(row.id),
        worker=row.worker,
        when=row.received,
        seconds=None if math.isnan(seconds) else seconds,
        marks=label_marks_from_json(row.marks),
        abstain=bool(row.abstain),
        none_of_these=bool(row.none_of_these),
        position=row.position,
        form=row.form,
        counted_as=row.counted_as,
        flags=json.loads(row.flags or "[]"),
    )
