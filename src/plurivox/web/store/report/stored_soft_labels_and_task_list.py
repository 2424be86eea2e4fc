"""Soft labels of tasks: rows of the table, and the list of tasks with their soft labels, one page at a time.

A row is valid from one snapshot to before another, so that a list keeps its order while it is read, whatever is answered in
the meantime. Lists by entropy or by number of answers are as of one snapshot, which the cursor of the next page contains and
whose soft labels are kept for a quarter of an hour. A cursor is a key of an index, not an offset: the thousandth page is as
fast as the first.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import BigInteger, ColumnElement, Connection, cast, delete, func, insert, select, tuple_

from plurivox.web.store.database import batched
from plurivox.web.store.errors import Conflict, InvalidCursor
from plurivox.web.store.key_value import kv_get
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.store.schema import OPEN_END, TaskKind, answers, facts, slots, soft_labels, tasks

Order = Literal["name", "entropy", "given"]
MAX_TOP_LABELS = 3  # of a task in a list
AFTER_ANY_CHARACTER = "\U0010ffff"  # sorts after every character of a name
ROWS_PER_STATEMENT = 500
SURE_WITHOUT_ANSWERS = 1.0  # column `sure` of a task without answers: sorts after minus any entropy
NEWEST_SNAPSHOT = select(cast(facts.c.value, BigInteger)).where(facts.c.name == "published").scalar_subquery()
ANSWERS_THAT_COUNT = (
    select(func.count())
    .where(slots.c.task_id == tasks.c.id, slots.c.number.is_not(None), slots.c.state == "done")
    .scalar_subquery()
)
TASK_ROWS = (
    select(tasks, ANSWERS_THAT_COUNT.label("answers"), soft_labels.c.n, soft_labels.c.sure)
    .add_columns(soft_labels.c.soft, soft_labels.c.truth)
    .select_from(tasks.join(soft_labels, soft_labels.c.task_id == tasks.c.id))
    .where(tasks.c.practice == 0)
)


@dataclass(frozen=True)
class SoftLabel:
    """The share of people who would give a label, with a 95% interval; None if the aggregator has no interval."""

    label: str
    p: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class LabelProbability:
    """The probability that a label is right."""

    label: str
    p: float


@dataclass(frozen=True)
class SoftLabelRow:
    """The soft labels of a task for people and for truth; the defaults are for a task without answers."""

    task_id: int
    n: int = 0  # answers they are computed from
    entropy: float | None = None  # of `soft`, in nats; None if there is no answer
    soft: str = "[]"  # people: see `soft_label_intervals_to_json`
    truth: str = "[]"  # see `label_probabilities_to_json`

    def to_database_row(self) -> dict[str, Any]:
        """Return these soft labels as columns of their table. `sure` is minus the entropy, so that its index sorts tasks
        from the highest to the lowest entropy, and then those without answers."""
        sure = SURE_WITHOUT_ANSWERS if self.entropy is None else 0.0 - self.entropy
        return {"task_id": self.task_id, "n": self.n, "sure": sure, "soft": self.soft, "truth": self.truth}


def entropy_from_stored_negative_entropy(n_answers: int, negative_entropy: float) -> float | None:
    """Return the entropy of a soft label in nats from its stored negative; None for a task without answers."""
    return max(0.0, -negative_entropy) if n_answers else None


def soft_label_intervals_to_json(label_intervals: Sequence[tuple[str, float, float, float]]) -> str:
    """Return a soft label as JSON for the column `soft`: [[label, p, low, high], ...], the most probable first.

    Where low and high are NaN, they are null.
    """
    return json.dumps(
        [
            [label, p, None if low != low else low, None if high != high else high]
            for label, p, low, high in label_intervals
        ]
    )


def soft_label_intervals_from_json(soft_label_json: str) -> list[SoftLabel]:
    """Return the probability and interval of each label, parsed from the stored JSON of a soft label, most probable first."""
    return [SoftLabel(*row) for row in json.loads(soft_label_json)]


def label_probabilities_to_json(label_probabilities: Sequence[tuple[str, float]]) -> str:
    """Return probabilities as JSON for the column `truth`: [[label, p], ...], the most probable first."""
    return json.dumps(label_probabilities)


def label_probabilities_from_json(truth_json: str) -> list[LabelProbability]:
    """Return the probability of each label to be right, parsed from the stored JSON, the most probable first."""
    return [LabelProbability(*row) for row in json.loads(truth_json)]


def soft_label_row_without_answers(task_id: int) -> dict[str, Any]:
    """Return the row that the table of soft labels contains for a task without answers."""
    return {**SoftLabelRow(task_id).to_database_row(), "since": 0, "until": OPEN_END}


def reset_soft_labels_of_tasks_answered_by_worker(connection: Connection, worker_id: int) -> None:
    """Replace the soft labels of all tasks that a worker has answered by empty ones, until the next snapshot is computed."""
    answered = select(answers.c.task_id).join(slots, slots.c.id == answers.c.slot_id)
    answered = answered.where(answers.c.worker_id == worker_id, slots.c.kind != "practice").distinct()
    for part in batched(connection.execute(answered).scalars().all(), ROWS_PER_STATEMENT):
        connection.execute(delete(soft_labels).where(soft_labels.c.task_id.in_(part)))
        connection.execute(insert(soft_labels), [soft_label_row_without_answers(task) for task in part])


def ids_of_tasks_with_nonempty_soft_label(connection: Connection) -> Sequence[int]:
    """Return the ids of tasks whose current soft label is computed from at least one answer."""
    query = select(soft_labels.c.task_id).where(soft_labels.c.until == OPEN_END, soft_labels.c.n > 0)
    return connection.execute(query).scalars().all()


# ---- validity in snapshots


def get_newest_snapshot_number(connection: Connection) -> int:
    """Return the number of the newest published snapshot; 0 if there is none."""
    return kv_get(connection, "published") or 0


def get_oldest_kept_snapshot_number(connection: Connection) -> int:
    """Return the number of the oldest snapshot whose soft labels are still kept; 0 if there is none."""
    return kv_get(connection, "oldest") or 0


def sql_condition_for_soft_labels_valid_in_snapshot(snapshot_number: Any) -> ColumnElement[bool]:
    """Return the SQL condition that selects the soft labels valid in the snapshot with this number."""
    # `+ 0` prevents the planner from using ix_beliefs_until, with which it would read and sort all rows
    return (soft_labels.c.since <= snapshot_number) & (soft_labels.c.until + 0 > snapshot_number)


# the published one, not the one being written
VALID_IN_NEWEST = sql_condition_for_soft_labels_valid_in_snapshot(func.coalesce(NEWEST_SNAPSHOT, 0))


# ---- lists of tasks


@dataclass(frozen=True)
class TaskLine:
    """A line of the list of tasks: answers, quota, entropy and most probable labels of a task."""

    task: str  # its id in URLs
    name: str
    stratum: str
    kind: TaskKind
    answers: int  # that count, now
    given: int  # answers that count, and tasks that people have on their screens
    quota: int
    entropy: float | None  # of the people's labels, in nats; None if there are none yet
    top: list[SoftLabel]  # people: the labels that most would give, at most three
    truth: list[LabelProbability]  # the labels most probably right, at most three; empty if not computed yet


@dataclass(frozen=True)
class TaskPage:
    """One page of the list of tasks with their soft labels, and the cursor of the next page."""

    tasks: list[TaskLine]
    next: str | None  # cursor of the next page


def get_page_of_tasks(
    connection: Connection, after: str | None, limit: int, order: Order, prefix: str = ""
) -> TaskPage:
    """Return one page of tasks by name, entropy (highest first) or answers (fewest first); with `prefix`, by name only.

    `after` is the cursor of the page before. Raise InvalidCursor if it is not valid, Conflict if its snapshot is too old.
    """
    query = TASK_ROWS.limit(limit + 1)
    if order == "name" or prefix:
        query = query.where(tasks.c.name >= prefix, tasks.c.name < prefix + AFTER_ANY_CHARACTER) if prefix else query
        return _get_page_of_tasks_sorted_by_name(connection, query, after, limit)
    snapshot, last_key = _parse_cursor_to_snapshot_and_last_task_shown(connection, after)
    key = soft_labels.c.sure if order == "entropy" else soft_labels.c.n
    query = query.where(sql_condition_for_soft_labels_valid_in_snapshot(snapshot)).order_by(key, soft_labels.c.task_id)
    if last_key is not None:
        query = query.where(tuple_(key, soft_labels.c.task_id) > last_key)
    rows = connection.execute(query).all()
    next_cursor = None
    if len(rows) > limit:
        last = rows[limit - 1]
        next_cursor = f"{snapshot}_{last.sure if order == 'entropy' else last.n}_{encode_id(last.id)}"
    return TaskPage([task_list_line_from_row(row) for row in rows[:limit]], next_cursor)


def _get_page_of_tasks_sorted_by_name(
    connection: Connection, query: Any, after_task_id: str | None, limit: int
) -> TaskPage:
    """Return one page of tasks by name, with soft labels of the newest snapshot; the one before ended at `after_task_id`."""
    query = query.where(VALID_IN_NEWEST).order_by(tasks.c.name)
    if after_task_id:
        name = connection.execute(select(tasks.c.name).where(tasks.c.id == decode_id(after_task_id))).scalar()
        if name is None:
            raise InvalidCursor()
        query = query.where(tasks.c.name > name)
    rows = connection.execute(query).all()
    return TaskPage(
        [task_list_line_from_row(row) for row in rows[:limit]],
        encode_id(rows[limit - 1].id) if len(rows) > limit else None,
    )


def _parse_cursor_to_snapshot_and_last_task_shown(connection: Connection, cursor: str | None) -> tuple[int, Any]:
    """Return the snapshot number and the (sort key, task id) of the last row shown (None: first page) from a page cursor."""
    newest = get_newest_snapshot_number(connection)
    if not cursor:
        return newest, None
    try:
        number, key, task = cursor.split("_")
        snapshot, last_key = int(number), (float(key), decode_id(task))
    except ValueError:
        raise InvalidCursor() from None
    if not 0 <= snapshot <= newest or last_key[0] != last_key[0] or abs(last_key[0]) > 1e9:
        raise InvalidCursor()
    if snapshot < get_oldest_kept_snapshot_number(connection):
        raise Conflict("list-renewed", "this list has changed since; start again at the first page")
    return snapshot, last_key


def get_row_of_task_with_newest_soft_label(connection: Connection, task_id: int) -> Any:
    """Return the database row of a task with its soft label in the newest snapshot; None if there is no such task."""
    return connection.execute(TASK_ROWS.where(tasks.c.id == task_id, VALID_IN_NEWEST)).first()


def task_list_line_from_row(row: Any) -> TaskLine:
    """Convert a database row of a task and its soft label to a line of the list of tasks."""
    return TaskLine(
        task=encode_id(row.id),
        name=row.name,
        stratum=row.stratum,
        kind=row.kind,
        answers=row.answers,
        given=row.given,
        quota=row.quota,
        entropy=entropy_from_stored_negative_entropy(row.n, row.sure),
        top=soft_label_intervals_from_json(row.soft)[:MAX_TOP_LABELS],
        truth=label_probabilities_from_json(row.truth)[:MAX_TOP_LABELS],
    )
