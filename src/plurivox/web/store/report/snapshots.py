"""Snapshots: what the background computes from all answers, soft labels first; how one is written, and when it is stale.

The leader writes a snapshot in parts, so that no answer waits: `begin_snapshot`, `write_soft_labels`, `publish_snapshot`. Readers see the one
that was published last.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_, update

from plurivox.web.store.database import WRITE_OPTIONS, batched, now
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.report import answer_counters, background_alerts
from plurivox.web.store.report.soft_labels import SoftLabelRow, newest_snapshot_id
from plurivox.web.store.report.statistics import Agreement, ArmResult, StoppingSummary, Times
from plurivox.web.store.schema import OPEN_END, answers, facts, leaders, snapshots, soft_labels

T = TypeVar("T")
ROWS_PER_TRANSACTION = 500  # rows in one transaction: some ten milliseconds
LEADER_LEASE_SECONDS = 30.0  # seconds a leader may be silent before another takes over
KEEP_SECONDS = 900.0  # seconds for which a list stays as it was
NEWEST_ANSWER = select(answers.c.id, answers.c.received).order_by(answers.c.id.desc()).limit(1)


@dataclass(frozen=True)
class Snapshot:
    """What the background computed from all answers up to one; the defaults are how it is before the first one."""

    at: float | None = None
    last_answer: int = 0
    answers: int = 0
    asked: str = ""  # the digest of study.toml
    stages: dict[str, float] = field(default_factory=dict)  # median seconds by stage
    by: str = ""  # the aggregator
    full_tasks: dict[str, int] = field(default_factory=dict)  # by stratum
    recounted: int = 0  # how often somebody had been excluded or taken back
    flags: dict[str, int] = field(default_factory=dict)
    agreement: Agreement = field(default_factory=Agreement)
    times: Times = field(default_factory=Times)
    entropy: list[int] = field(default_factory=list)
    confidence: list[int] = field(default_factory=list)
    label_shares: dict[str, float] = field(default_factory=dict)
    settled: StoppingSummary | None = None
    forms: list[ArmResult] = field(default_factory=list)
    seconds: float = 0.0

    def body(self) -> str:
        """Everything that has no column of its own, as JSON."""
        own = {"at", "last_answer"}
        return json.dumps(
            {name: value for name, value in asdict(self).items() if name not in own and value is not None}
        )

    @classmethod
    def of(cls, at: float, last_answer: int, body: str) -> Self:
        """A snapshot as the store keeps it; what an older version did not compute is as before the first one."""
        said = json.loads(body)
        parts: dict[str, Any] = {"at": at, "last_answer": last_answer}
        for name, kind in (("agreement", Agreement), ("times", Times), ("settled", StoppingSummary)):
            if name in said:
                parts[name] = _build(kind, said[name])
        if "forms" in said:
            parts["forms"] = [_build(ArmResult, one) for one in said["forms"]]
        return _build(cls, said | parts)


def _build(kind: type[T], values: dict[str, Any]) -> T:
    """A dataclass of the values that it has fields for."""
    return kind(**{one.name: values[one.name] for one in fields(kind) if one.name in values})  # type: ignore[arg-type]


def latest_snapshot(connection: Connection) -> Snapshot:
    """The newest snapshot."""
    row = connection.execute(select(snapshots).order_by(snapshots.c.id.desc()).limit(1)).first()
    return Snapshot() if row is None else Snapshot.of(row.at, row.last_answer, row.body)


def is_stale(connection: Connection, digest: str | None = None, latest: Snapshot | None = None) -> bool:
    """Whether the latest snapshot misses answers, or was computed for a study.toml with another digest."""
    newest = connection.execute(NEWEST_ANSWER).first()
    latest = latest_snapshot(connection) if latest is None else latest
    if (newest.id if newest else 0) != latest.last_answer or is_recomputing(connection, latest):
        return True
    if latest.at is None:
        return False
    if newest and connection.dialect.name != "sqlite":
        # one with a smaller number may have been on its way: look once more when none can be any longer
        settled = newest.received + answer_counters.COMMIT_SECONDS
        if latest.at < settled < now():
            return True
    return digest is not None and latest.asked != digest


def is_recomputing(connection: Connection, latest: Snapshot) -> bool:
    """Whether somebody was excluded or taken back since a snapshot was computed."""
    return latest.at is not None and latest.recounted != count_exclusion_changes(connection)


# ---- who writes snapshots: one of several servers leads, and another follows when it is silent


def acquire_leadership(connection: Connection, holder: str, seconds: float = LEADER_LEASE_SECONDS) -> bool:
    """Become the leader, or stay it; False where another one is."""
    mine = (leaders.c.holder == holder) | (leaders.c.until < now())
    values = {"holder": holder, "until": now() + seconds}
    if connection.execute(update(leaders).where(leaders.c.name == "studio", mine).values(values)).rowcount:
        return True
    if connection.execute(select(leaders.c.name)).first() is not None:
        return False
    connection.execute(insert(leaders).values(name="studio", **values))  # two at once: the key lets one in
    return True


def leader_lease_end(connection: Connection) -> float | None:
    """When the lease of the last leader ends or ended; None where no server has led yet."""
    return connection.execute(select(leaders.c.until)).scalar()


# ---- a snapshot is written


class Outdated(Exception):
    """Somebody was erased or excluded, or another server leads since: what was computed must not be seen."""


def begin_snapshot(engine: Engine, by: str = "") -> int:
    """The number of the next snapshot, which `by` alone may write. What an interrupted one has left is taken back."""
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        number = newest_snapshot_id(connection) + 1
        if kv_get(connection, "writing") is not None:
            connection.execute(delete(soft_labels).where(soft_labels.c.since >= number))
            ended = soft_labels.c.until.between(number, OPEN_END - 1)
            connection.execute(update(soft_labels).where(ended).values(until=OPEN_END))
        kv_set(connection, "writing", by)
    return number


def _check_fencing(connection: Connection, by: str) -> None:
    """Fencing check: raise Outdated if another server has begun a snapshot; who begins one waits until we commit."""
    held = select(facts.c.value).where(facts.c.name == "writing").with_for_update(read=True)
    if connection.execute(held).scalar() != json.dumps(by):
        raise Outdated


def lock_erasures(connection: Connection) -> int:
    """Return the count of erasures, and lock it until we commit: whoever erases or excludes somebody now waits."""
    answer_counters.lock_counters(connection)
    return count_erasures(connection)


def write_soft_labels(engine: Engine, number: int, new: Iterable[SoftLabelRow], by: str = "") -> int:
    """Write the soft labels that differ from those that hold; how many. Readers see them once `number` is published."""
    n = 0
    for part in batched((one.columns() for one in new), ROWS_PER_TRANSACTION):
        ids = [one["task_id"] for one in part]
        with engine.connect() as connection:
            holds = select(soft_labels).where(soft_labels.c.task_id.in_(ids), soft_labels.c.until == OPEN_END)
            old = {row.task_id: row._asdict() for row in connection.execute(holds)}
        fresh = [one for one in part if not one.items() <= old.get(one["task_id"], {}).items()]
        if fresh:
            with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                _check_fencing(connection, by)
                ids = [one["task_id"] for one in fresh]
                here = soft_labels.c.task_id.in_(ids) & (soft_labels.c.until == OPEN_END)
                connection.execute(update(soft_labels).where(here).values(until=number))
                connection.execute(insert(soft_labels), [{**one, "since": number, "until": OPEN_END} for one in fresh])
        n += len(fresh)
    return n


def publish_snapshot(
    engine: Engine, number: int, made: Snapshot, erasures: int = 0, alert: str = "", by: str = ""
) -> None:
    """From now on this snapshot is the newest; raise Outdated if other answers count by now than those it is made of."""
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        _check_fencing(connection, by)
        if (lock_erasures(connection), count_exclusion_changes(connection)) != (erasures, made.recounted):
            raise Outdated
        row = {"id": number, "at": now(), "last_answer": made.last_answer, "body": made.body()}
        connection.execute(insert(snapshots).values(row))
        old = (snapshots.c.at < now() - KEEP_SECONDS) & (snapshots.c.id < number)
        connection.execute(delete(snapshots).where(old))
        first = connection.execute(select(func.min(snapshots.c.id))).scalar_one()
        for name, value in (("published", number), ("oldest", first), ("writing", None)):
            kv_set(connection, name, value)
        background_alerts.set_alert(connection, "aggregator", alert)
    _delete_old_soft_labels(engine, first)


def _delete_old_soft_labels(engine: Engine, first: int) -> None:
    """Delete soft labels that no list needs any more."""
    past = (
        select(soft_labels.c.task_id, soft_labels.c.since)
        .where(soft_labels.c.until <= first)
        .limit(ROWS_PER_TRANSACTION)
    )
    key = tuple_(soft_labels.c.task_id, soft_labels.c.since)
    n = ROWS_PER_TRANSACTION
    while n == ROWS_PER_TRANSACTION:
        with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            n = connection.execute(delete(soft_labels).where(key.in_(past))).rowcount


# ---- what makes snapshots stale


def count_erasures(connection: Connection) -> int:
    """How often answers were deleted, or imported with ids that readers may have passed: they read all answers again
    when this number has changed."""
    return kv_get(connection, "erased") or 0


def count_exclusion_changes(connection: Connection) -> int:
    """How often somebody was excluded or taken back: their answers count no more, or again."""
    return kv_get(connection, "recounted") or 0


def drop_snapshots(connection: Connection) -> None:
    """Delete all snapshots, after answers were erased or imported; one that is being computed is not published."""
    connection.execute(delete(snapshots))
    kv_set(connection, "erased", count_erasures(connection) + 1)


def mark_stale(connection: Connection) -> None:
    """Mark the latest snapshot as stale, after somebody was excluded or taken back; it stays until the next one."""
    kv_set(connection, "recounted", count_exclusion_changes(connection) + 1)
