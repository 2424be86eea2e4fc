"""Soft labels of tasks as their table holds them, and the list of tasks with their soft labels, a page at a time.

A row holds from one snapshot to before another, so that a list keeps its order while it is read: where a page ends, the next
one begins, whatever has been answered meanwhile. Tasks by entropy or by answers are listed as of one snapshot, which the place
in the list names: its soft labels stay as they were for a quarter of an hour. A place is a key of an index, not a number of
rows: the thousandth page is as fast as the first.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, func, insert, select, tuple_

from plurivox.web.store.database import batched
from plurivox.web.store.errors import Conflict, LostPlace
from plurivox.web.store.facts import kv_get
from plurivox.web.store.ids import decode_id, encode_id
from plurivox.web.store.schema import STILL, TaskKind, answers, facts, slots, soft_labels, tasks

Order = Literal["name", "entropy", "given"]
TOP = 3  # labels of a task in a list
LAST = "\U0010ffff"  # after every character of a name
AT_ONCE = 500  # rows in one statement
NO_ANSWER = 1.0  # the column `sure` of a task that nobody has answered: after every entropy
PUBLISHED = select(cast(facts.c.value, BigInteger)).where(facts.c.name == "published").scalar_subquery()
TASK_ROWS = (
    select(tasks, soft_labels.c.n, soft_labels.c.sure, soft_labels.c.soft)
    .select_from(tasks.join(soft_labels, soft_labels.c.task_id == tasks.c.id))
    .where(tasks.c.practice == 0)
)


@dataclass(frozen=True)
class SoftLabel:
    """The probability of one label, with a 95% interval."""

    label: str
    p: float
    low: float
    high: float


@dataclass(frozen=True)
class SoftLabelRow:
    """The soft label of a task; the defaults are that of a task which nobody has answered."""

    task_id: int
    n: int = 0  # answers it rests on
    entropy: float | None = None  # in nats; None where there is no answer
    soft: str = "[]"  # see `dump_soft`

    def columns(self) -> dict[str, Any]:
        """The columns of the table that it fills. The column `sure` is minus the entropy, so that its index goes from
        doubtful to sure tasks, and then to those without an answer."""
        sure = NO_ANSWER if self.entropy is None else 0.0 - self.entropy
        return {"task_id": self.task_id, "n": self.n, "sure": sure, "soft": self.soft}


def entropy_of(n: int, sure: float) -> float | None:
    """The entropy that the column `sure` holds, in nats; None for a task without answers."""
    return max(0.0, -sure) if n else None


def dump_soft(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """A soft label as the column `soft` holds it: [[label, p, low, high], ...] as JSON, the most probable first."""
    return json.dumps(rows)


def load_soft(text: str) -> list[SoftLabel]:
    """The labels of a soft label, the most probable first."""
    return [SoftLabel(*row) for row in json.loads(text)]


def no_soft_label(task: int) -> dict[str, Any]:
    """The whole row of a task that nobody has answered."""
    return {**SoftLabelRow(task).columns(), "since": 0, "until": STILL}


def drop_soft_labels(connection: Connection, worker: int) -> None:
    """Delete the soft labels of the tasks that a person has answered; the next snapshot computes them from the rest."""
    asked = select(answers.c.task_id).join(slots, slots.c.id == answers.c.slot_id)
    asked = asked.where(answers.c.worker_id == worker, slots.c.kind != "practice").distinct()
    for part in batched(connection.execute(asked).scalars().all(), AT_ONCE):
        connection.execute(delete(soft_labels).where(soft_labels.c.task_id.in_(part)))
        connection.execute(insert(soft_labels), [no_soft_label(task) for task in part])


def labelled_tasks(connection: Connection) -> Sequence[int]:
    """Tasks that have a soft label."""
    wanted = select(soft_labels.c.task_id).where(soft_labels.c.until == STILL, soft_labels.c.n > 0)
    return connection.execute(wanted).scalars().all()


# ---- which snapshot's soft labels are listed


def newest_snapshot(connection: Connection) -> int:
    """The number of the newest snapshot."""
    return kv_get(connection, "published") or 0


def oldest_snapshot(connection: Connection) -> int:
    """The number of the oldest snapshot whose lists are whole."""
    return kv_get(connection, "oldest") or 0


def holds_in(number: Any) -> ColumnElement[bool]:
    """Condition of the soft labels that hold in a snapshot, by its number."""
    # `+ 0` keeps the planner from ix_beliefs_until, by which it would find all rows and sort them
    return (soft_labels.c.since <= number) & (soft_labels.c.until + 0 > number)


IS_PUBLISHED = holds_in(func.coalesce(PUBLISHED, 0))  # of the newest snapshot, not of the one that is being written


# ---- lists of tasks


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


def task_page(connection: Connection, after: str | None, limit: int, order: Order, prefix: str = "") -> TaskPage:
    """Tasks by name, by entropy (the most doubtful first) or by how few answers they have; found ones by name."""
    wanted = TASK_ROWS.limit(limit + 1)
    if order == "name" or prefix:
        wanted = wanted.where(tasks.c.name >= prefix, tasks.c.name < prefix + LAST) if prefix else wanted
        return _by_name(connection, wanted, after, limit)
    snapshot, place = _place(connection, after)
    key = soft_labels.c.sure if order == "entropy" else soft_labels.c.n
    wanted = wanted.where(holds_in(snapshot)).order_by(key, soft_labels.c.task_id)
    if place is not None:
        wanted = wanted.where(tuple_(key, soft_labels.c.task_id) > place)
    rows = connection.execute(wanted).all()
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        following = f"{snapshot}_{last.sure if order == 'entropy' else last.n}_{encode_id(last.id)}"
    return TaskPage([task_line(row) for row in rows[:limit]], following)


def _by_name(connection: Connection, wanted: Any, after: str | None, limit: int) -> TaskPage:
    """A name never changes: these are listed as they are."""
    wanted = wanted.where(IS_PUBLISHED).order_by(tasks.c.name)
    if after:
        name = connection.execute(select(tasks.c.name).where(tasks.c.id == decode_id(after))).scalar()
        if name is None:
            raise LostPlace()
        wanted = wanted.where(tasks.c.name > name)
    rows = connection.execute(wanted).all()
    return TaskPage(
        [task_line(row) for row in rows[:limit]], encode_id(rows[limit - 1].id) if len(rows) > limit else None
    )


def _place(connection: Connection, after: str | None) -> tuple[int, Any]:
    """The snapshot that is listed, and the key of the last row that was shown."""
    newest = newest_snapshot(connection)
    if not after:
        return newest, None
    try:
        number, key, task = after.split("_")
        snapshot, place = int(number), (float(key), decode_id(task))
    except ValueError:
        raise LostPlace() from None
    if not 0 <= snapshot <= newest or place[0] != place[0] or abs(place[0]) > 1e9:
        raise LostPlace()
    if snapshot < oldest_snapshot(connection):
        raise Conflict("list-renewed", "this list has been renewed since; begin at its first page")
    return snapshot, place


def task_row(connection: Connection, task: int) -> Any:
    """The row of `TASK_ROWS` of one task as of the newest snapshot; None where there is no such task."""
    return connection.execute(TASK_ROWS.where(tasks.c.id == task, IS_PUBLISHED)).first()


def task_line(row: Any) -> TaskLine:
    """The line of a row of `TASK_ROWS`."""
    return TaskLine(
        task=encode_id(row.id),
        name=row.name,
        stratum=row.stratum,
        kind=row.kind,
        given=row.given,
        quota=row.quota,
        entropy=entropy_of(row.n, row.sure),
        top=load_soft(row.soft)[:TOP],
    )
