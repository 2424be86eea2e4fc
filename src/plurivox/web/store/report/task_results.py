"""Tasks with their soft labels: lists, a page at a time, and one task with every answer to it.

Where a page ends, the next one begins, whatever has been answered meanwhile. Tasks by entropy or by answers are listed as of
one snapshot, which the place in the list names: its soft labels stay as they were for a quarter of an hour. A place is a key
of an index, not a number of rows: the thousandth page is as fast as the first.
"""

import json
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select, tuple_

from plurivox.web.store.collect.sittings import TASK, ShownTask, TaskKind
from plurivox.web.store.collect.submissions import Mark, marks_of
from plurivox.web.store.errors import Conflict, Invalid, NotFound
from plurivox.web.store.ids import number_of, shown
from plurivox.web.store.report.snapshots import (
    IS_PUBLISHED,
    SoftLabel,
    holds_in,
    load_soft,
    newest_number,
    oldest_number,
)
from plurivox.web.store.schema import answers, beliefs, flags, media, sittings, slots, tasks, workers

Order = Literal["name", "entropy", "given"]
TOP = 3
LAST = "\U0010ffff"
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
LINE = (
    select(tasks, beliefs.c.n, beliefs.c.sure, beliefs.c.soft)
    .select_from(tasks.join(beliefs, beliefs.c.task_id == tasks.c.id))
    .where(tasks.c.practice == 0)
)


@dataclass(frozen=True)
class TaskLine:
    """A task in a list."""

    task: str  # its id as addresses show it
    name: str
    stratum: str
    kind: TaskKind
    given: int
    quota: int
    entropy: float | None  # of the soft label, in nats; None before the first snapshot that knows it
    top: list[SoftLabel]  # the most probable labels, at most three


@dataclass(frozen=True)
class TaskPage:
    """A part of the list of tasks."""

    tasks: list[TaskLine]
    next: str | None  # the place where the next page begins


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


def task_page(connection: Connection, after: str | None, limit: int, order: Order, prefix: str = "") -> TaskPage:
    """Tasks by name, by entropy (the most doubtful first) or by how few answers they have; found ones by name."""
    wanted = LINE.limit(limit + 1)
    if order == "name" or prefix:
        wanted = wanted.where(tasks.c.name >= prefix, tasks.c.name < prefix + LAST) if prefix else wanted
        return _by_name(connection, wanted, after, limit)
    snapshot, place = _place(connection, after)
    key = beliefs.c.sure if order == "entropy" else beliefs.c.n
    wanted = wanted.where(holds_in(snapshot)).order_by(key, beliefs.c.task_id)
    if place is not None:
        wanted = wanted.where(tuple_(key, beliefs.c.task_id) > place)
    rows = connection.execute(wanted).all()
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        following = f"{snapshot}_{last.sure if order == 'entropy' else last.n}_{shown(last.id)}"
    return TaskPage([_line(row) for row in rows[:limit]], following)


def _by_name(connection: Connection, wanted: Any, after: str | None, limit: int) -> TaskPage:
    """A name never changes: these are listed as they are."""
    wanted = wanted.where(IS_PUBLISHED).order_by(tasks.c.name)
    if after:
        name = connection.execute(select(tasks.c.name).where(tasks.c.id == number_of(after))).scalar()
        if name is None:
            raise lost_place()
        wanted = wanted.where(tasks.c.name > name)
    rows = connection.execute(wanted).all()
    return TaskPage([_line(row) for row in rows[:limit]], shown(rows[limit - 1].id) if len(rows) > limit else None)


def _place(connection: Connection, after: str | None) -> tuple[int, Any]:
    """The snapshot that is listed, and the key of the last row that was shown."""
    newest = newest_number(connection)
    if not after:
        return newest, None
    try:
        number, key, task = after.split("_")
        snapshot, place = int(number), (float(key), number_of(task))
    except ValueError:
        raise lost_place() from None
    if not 0 <= snapshot <= newest or place[0] != place[0] or abs(place[0]) > 1e9:
        raise lost_place()
    if snapshot < oldest_number(connection):
        raise Conflict("list-renewed", "this list has been renewed since; begin at its first page")
    return snapshot, place


def lost_place() -> Invalid:
    """The error of a list that does not have the place that was asked for."""
    return Invalid("there is no such place in the list; begin at its first page")


def _line(row: Any) -> TaskLine:
    return TaskLine(
        task=shown(row.id),
        name=row.name,
        stratum=row.stratum,
        kind=row.kind,
        given=row.given,
        quota=row.quota,
        entropy=max(0.0, -row.sure) if row.n else None,
        top=load_soft(row.soft)[:TOP],
    )


def task_detail(connection: Connection, task: str) -> TaskDetail:
    """One task with every answer to it that counts."""
    row = connection.execute(LINE.where(tasks.c.id == number_of(task), IS_PUBLISHED)).first()
    if row is None:
        raise NotFound("task")
    content = select(*TASK).select_from(tasks.outerjoin(media, media.c.id == tasks.c.media_id))
    seen = connection.execute(content.where(tasks.c.id == row.id)).one()
    said = EACH_ANSWER.add_columns(flags.c.flags).outerjoin(flags, flags.c.answer_id == answers.c.id)
    said = said.where(answers.c.task_id == row.id, slots.c.answer_id == answers.c.id, slots.c.kind != "practice")
    return TaskDetail(
        line=_line(row),
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
