"""Snapshots: what the background computes from all answers, soft labels first; how one is written, and when it is stale.

The leader writes a snapshot in parts, so that no answer waits: `begin`, `write_soft_labels`, `publish`. Readers see the one
that was published last.
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Connection, Engine, cast, delete, func, insert, select, tuple_, update

from plurivox.web.store.database import WRITES, batched, now
from plurivox.web.store.facts import fact, set_fact
from plurivox.web.store.report import alerts, counters
from plurivox.web.store.report.statistics import Snapshot
from plurivox.web.store.schema import STILL, answers, beliefs, facts, leaders, slots, snapshots

AT_ONCE = 500  # rows in one transaction: some ten milliseconds
LEASE = 30.0  # seconds a leader may be silent before another takes over
KEPT = 900.0  # seconds for which a list stays as it was
NEWEST = select(answers.c.id, answers.c.received).order_by(answers.c.id.desc()).limit(1)
PUBLISHED = select(cast(facts.c.value, BigInteger)).where(facts.c.name == "published").scalar_subquery()


def latest_snapshot(connection: Connection) -> Snapshot:
    """The newest snapshot."""
    row = connection.execute(select(snapshots).order_by(snapshots.c.id.desc()).limit(1)).first()
    return Snapshot() if row is None else Snapshot.of(row.at, row.last_answer, row.body)


def newest_number(connection: Connection) -> int:
    """The number of the newest snapshot."""
    return fact(connection, "published") or 0


def oldest_number(connection: Connection) -> int:
    """The number of the oldest snapshot whose lists are whole."""
    return fact(connection, "oldest") or 0


def is_stale(connection: Connection, digest: str | None = None, latest: Snapshot | None = None) -> bool:
    """Whether the latest snapshot misses answers, or was computed for a study.toml with another digest."""
    newest = connection.execute(NEWEST).first()
    latest = latest_snapshot(connection) if latest is None else latest
    if (newest.id if newest else 0) != latest.last_answer or is_recomputing(connection, latest):
        return True
    if latest.at is None:
        return False
    if newest and connection.dialect.name != "sqlite":
        # one with a smaller number may have been on its way: look once more when none can be any longer
        settled = newest.received + counters.SETTLES
        if latest.at < settled < now():
            return True
    return digest is not None and latest.asked != digest


def is_recomputing(connection: Connection, latest: Snapshot) -> bool:
    """Whether somebody was excluded or taken back since a snapshot was computed."""
    return latest.at is not None and latest.recounted != recounted(connection)


# ---- soft labels of tasks


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
    sure: float = 1.0  # minus the entropy in nats; 1 where there is no answer
    soft: str = "[]"  # see `dump_soft`


def dump_soft(rows: Sequence[tuple[str, float, float, float]]) -> str:
    """A soft label as the column `soft` holds it: [[label, p, low, high], ...] as JSON, the most probable first."""
    return json.dumps(rows)


def load_soft(text: str) -> list[SoftLabel]:
    """The labels of a soft label, the most probable first."""
    return [SoftLabel(*row) for row in json.loads(text)]


def no_soft_label_row(task: int) -> dict[str, Any]:
    """The whole row of a task that nobody has answered."""
    return {**vars(SoftLabelRow(task)), "since": 0, "until": STILL}


def holds_in(number: Any) -> ColumnElement[bool]:
    """Condition of the soft labels that hold in a snapshot, by its number."""
    # `+ 0` keeps the planner from ix_beliefs_until, by which it would find all rows and sort them
    return (beliefs.c.since <= number) & (beliefs.c.until + 0 > number)


IS_PUBLISHED = holds_in(func.coalesce(PUBLISHED, 0))  # of the newest snapshot, not of the one that is being written


# ---- who writes snapshots: one of several servers leads, and another follows when it is silent


def lead(connection: Connection, holder: str, seconds: float = LEASE) -> bool:
    """Become the leader, or stay it; False where another one is."""
    mine = (leaders.c.holder == holder) | (leaders.c.until < now())
    values = {"holder": holder, "until": now() + seconds}
    if connection.execute(update(leaders).where(leaders.c.name == "studio", mine).values(values)).rowcount:
        return True
    if connection.execute(select(leaders.c.name)).first() is not None:
        return False
    connection.execute(insert(leaders).values(name="studio", **values))  # two at once: the key lets one in
    return True


def lease_end(connection: Connection) -> float | None:
    """When the lease of the last leader ends or ended; None where no server has led yet."""
    return connection.execute(select(leaders.c.until)).scalar()


# ---- a snapshot is written


class Outdated(Exception):
    """Somebody was erased or excluded, or another server leads since: what was computed must not be seen."""


def begin(engine: Engine, by: str = "") -> int:
    """The number of the next snapshot, which `by` alone may write. What an interrupted one has left is taken back."""
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        number = newest_number(connection) + 1
        if fact(connection, "writing") is not None:
            connection.execute(delete(beliefs).where(beliefs.c.since >= number))
            ended = beliefs.c.until.between(number, STILL - 1)
            connection.execute(update(beliefs).where(ended).values(until=STILL))
        set_fact(connection, "writing", by)
    return number


def _check_fencing(connection: Connection, by: str) -> None:
    """Fencing check: raise Outdated if another server has begun a snapshot; who begins one waits until we commit."""
    held = select(facts.c.value).where(facts.c.name == "writing").with_for_update(read=True)
    if connection.execute(held).scalar() != json.dumps(by):
        raise Outdated


def erased_by_now(connection: Connection) -> int:
    """The count of erasures, before what was computed is written: whoever erases somebody now waits until we commit."""
    counters.lock_mark(connection)
    return erased(connection)


def write_soft_labels(engine: Engine, number: int, new: Iterable[SoftLabelRow], by: str = "") -> int:
    """Write the soft labels that differ from those that hold; how many. Readers see them once `number` is published."""
    n = 0
    for part in batched(map(vars, new), AT_ONCE):
        ids = [one["task_id"] for one in part]
        with engine.connect() as connection:
            holds = select(beliefs).where(beliefs.c.task_id.in_(ids), beliefs.c.until == STILL)
            old = {row.task_id: row._asdict() for row in connection.execute(holds)}
        fresh = [one for one in part if not one.items() <= old.get(one["task_id"], {}).items()]
        if fresh:
            with engine.connect().execution_options(**WRITES) as connection, connection.begin():
                _check_fencing(connection, by)
                ids = [one["task_id"] for one in fresh]
                here = beliefs.c.task_id.in_(ids) & (beliefs.c.until == STILL)
                connection.execute(update(beliefs).where(here).values(until=number))
                connection.execute(insert(beliefs), [{**one, "since": number, "until": STILL} for one in fresh])
        n += len(fresh)
    return n


def labelled_tasks(connection: Connection) -> Sequence[int]:
    """Tasks that have a soft label."""
    wanted = select(beliefs.c.task_id).where(beliefs.c.until == STILL, beliefs.c.n > 0)
    return connection.execute(wanted).scalars().all()


def publish(engine: Engine, number: int, made: Snapshot, erasures: int = 0, alert: str = "", by: str = "") -> None:
    """From now on this snapshot is the newest; raise Outdated if other answers count by now than those it is made of."""
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        _check_fencing(connection, by)
        if (erased_by_now(connection), recounted(connection)) != (erasures, made.recounted):
            raise Outdated
        row = {"id": number, "at": now(), "last_answer": made.last_answer, "body": made.body()}
        connection.execute(insert(snapshots).values(row))
        old = (snapshots.c.at < now() - KEPT) & (snapshots.c.id < number)
        connection.execute(delete(snapshots).where(old))
        first = connection.execute(select(func.min(snapshots.c.id))).scalar_one()
        for name, value in (("published", number), ("oldest", first), ("writing", None)):
            set_fact(connection, name, value)
        alerts.tell(connection, "aggregator", alert)
    _clear(engine, first)


def _clear(engine: Engine, first: int) -> None:
    """Delete soft labels that no list needs any more."""
    past = select(beliefs.c.task_id, beliefs.c.since).where(beliefs.c.until <= first).limit(AT_ONCE)
    key = tuple_(beliefs.c.task_id, beliefs.c.since)
    n = AT_ONCE
    while n == AT_ONCE:
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            n = connection.execute(delete(beliefs).where(key.in_(past))).rowcount


# ---- what makes snapshots stale


def erased(connection: Connection) -> int:
    """How often answers were deleted, or imported with ids that readers may have passed: they read all answers again
    when this number has changed."""
    return fact(connection, "erased") or 0


def recounted(connection: Connection) -> int:
    """How often somebody was excluded or taken back: their answers count no more, or again."""
    return fact(connection, "recounted") or 0


def drop_soft_labels(connection: Connection, worker: int) -> None:
    """Delete the soft labels of the tasks that a person has answered; the next snapshot computes them from the rest."""
    asked = select(answers.c.task_id).join(slots, slots.c.id == answers.c.slot_id)
    asked = asked.where(answers.c.worker_id == worker, slots.c.kind != "practice").distinct()
    for part in batched(connection.execute(asked).scalars().all(), AT_ONCE):
        connection.execute(delete(beliefs).where(beliefs.c.task_id.in_(part)))
        connection.execute(insert(beliefs), [no_soft_label_row(task) for task in part])


def drop_snapshots(connection: Connection) -> None:
    """Delete all snapshots, after answers were erased or imported; one that is being computed is not published."""
    connection.execute(delete(snapshots))
    set_fact(connection, "erased", erased(connection) + 1)


def mark_stale(connection: Connection) -> None:
    """Mark the latest snapshot as stale, after somebody was excluded or taken back; it stays until the next one."""
    set_fact(connection, "recounted", recounted(connection) + 1)
