"""Snapshots of the results computed from all answers: write and publish them, elect the leader, find out if they are stale.

The leader writes a snapshot in several transactions, so that no answer waits: `undo_partial_and_reserve_snapshot_number`,
`write_and_count_changed_soft_labels`, `publish_snapshot_or_raise_outdated`. Readers see the one that was published last.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_, update

from plurivox.web.store.database import WRITE_OPTIONS, batched, current_unix_time
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.report import answer_counters, background_alerts
from plurivox.web.store.report.statistics_classes_and_queries import Agreement, ArmResult, StoppingSummary, Times
from plurivox.web.store.report.stored_soft_labels_and_task_list import SoftLabelRow, get_newest_snapshot_number
from plurivox.web.store.schema import OPEN_END, answers, facts, leaders, snapshots, soft_labels

T = TypeVar("T")
ROWS_PER_TRANSACTION = 500  # takes some ten milliseconds
LEADER_LEASE_SECONDS = 30.0  # another server becomes leader if the lease is not renewed for so long
KEEP_SECONDS = 900.0  # lists of an older snapshot can be read for so long
SNAPSHOT_VERSION = 1  # snapshots of version 0 have no soft labels for truth; they are stale
NEWEST_ANSWER = select(answers.c.id, answers.c.received).order_by(answers.c.id.desc()).limit(1)


@dataclass(frozen=True)
class Snapshot:
    """Statistics of a study computed from all answers up to the id `last_answer`; the defaults are for a study without any."""

    at: float | None = None
    last_answer: int = 0  # id
    answers: int = 0
    asked: str = ""  # digest of study.toml
    stages: dict[str, float] = field(default_factory=dict)  # stage -> median seconds
    by: str = ""  # the aggregator for people
    weights_people: bool = False  # whether it estimates how reliable people are
    truth_by: str = ""  # the aggregator for truth; "" if there are no soft labels for truth
    truth_weights_people: bool = False
    truth_due: float | None = None  # when truth, which takes long, is computed from newer answers; None: it has all
    full_tasks: dict[str, int] = field(default_factory=dict)  # stratum -> tasks
    exclusion_changes: int = 0  # see `count_exclusions_plus_reinstatements`; "recounted" in the stored JSON
    flags: dict[str, int] = field(default_factory=dict)  # flag -> answers
    agreement: Agreement = field(default_factory=Agreement)
    times: Times = field(default_factory=Times)
    entropy: list[int] = field(default_factory=list)
    confidence: list[int] = field(default_factory=list)
    label_shares: dict[str, float] = field(default_factory=dict)
    truth_entropy: list[int] = field(default_factory=list)
    truth_confidence: list[int] = field(default_factory=list)
    truth_label_shares: dict[str, float] = field(default_factory=dict)
    settled: StoppingSummary | None = None
    forms: list[ArmResult] = field(default_factory=list)
    seconds: float = 0.0
    version: int = SNAPSHOT_VERSION

    def snapshot_statistics_to_json(self) -> str:
        """Return the statistics of a snapshot as JSON for the column `body`: all fields except time and last answer id."""
        values = {name: value for name, value in asdict(self).items() if value is not None}
        values["recounted"] = values.pop("exclusion_changes")
        return json.dumps({name: value for name, value in values.items() if name not in ("at", "last_answer")})

    @classmethod
    def from_row(cls, created_at: float, last_answer_id: int, json_body: str) -> Self:
        """Create a Snapshot from the columns of its database row; statistics missing in the JSON get defaults."""
        values = json.loads(json_body)
        parts: dict[str, Any] = {
            "at": created_at,
            "last_answer": last_answer_id,
            "exclusion_changes": values.get("recounted", 0),
            "version": values.get("version", 0),
        }
        for name, kind in (("agreement", Agreement), ("times", Times), ("settled", StoppingSummary)):
            if name in values:
                parts[name] = _create_dataclass_ignoring_unknown_fields(kind, values[name])
        if "forms" in values:
            parts["forms"] = [_create_dataclass_ignoring_unknown_fields(ArmResult, one) for one in values["forms"]]
        return _create_dataclass_ignoring_unknown_fields(cls, values | parts)


def _create_dataclass_ignoring_unknown_fields(dataclass_type: type[T], values: dict[str, Any]) -> T:
    """Create a dataclass instance from name -> value, ignoring names that are not fields of the class."""
    return dataclass_type(**{one.name: values[one.name] for one in fields(dataclass_type) if one.name in values})  # type: ignore[arg-type]


def get_latest_or_default_result_snapshot(connection: Connection) -> Snapshot:
    """Return the newest published snapshot of the results; a Snapshot with default values if there is none."""
    row = connection.execute(select(snapshots).order_by(snapshots.c.id.desc()).limit(1)).first()
    return Snapshot() if row is None else Snapshot.from_row(row.at, row.last_answer, row.body)


def is_result_snapshot_stale(
    connection: Connection, config_digest: str | None = None, latest: Snapshot | None = None
) -> bool:
    """Return whether the latest snapshot of the results lacks answers or exclusions, is of an older version of plurivox, or
    belongs to another study.toml."""
    newest = connection.execute(NEWEST_ANSWER).first()
    latest = get_latest_or_default_result_snapshot(connection) if latest is None else latest
    if (newest.id if newest else 0) != latest.last_answer or was_worker_excluded_or_reinstated_since(
        connection, latest
    ):
        return True
    if latest.at is None:
        return False
    if latest.version < SNAPSHOT_VERSION or (latest.truth_due is not None and latest.truth_due < current_unix_time()):
        return True
    if newest and connection.dialect.name != "sqlite":
        # an answer with a smaller id may have been committed late: compute once more when none can be any longer
        final = newest.received + answer_counters.COMMIT_SECONDS
        if latest.at < final < current_unix_time():
            return True
    return config_digest is not None and latest.asked != config_digest


def was_worker_excluded_or_reinstated_since(connection: Connection, snapshot: Snapshot) -> bool:
    """Return whether a worker was excluded or reinstated since a snapshot was computed."""
    return snapshot.at is not None and snapshot.exclusion_changes != count_exclusions_plus_reinstatements(connection)


# ---- leadership: one of several servers writes snapshots; if its lease ends, another takes over


def acquire_or_renew_leader_lease(
    connection: Connection, server_name: str, lease_seconds: float = LEADER_LEASE_SECONDS
) -> bool:
    """Acquire or renew the lease by which a server is the leader; return False if another server is the leader."""
    free = (leaders.c.holder == server_name) | (leaders.c.until < current_unix_time())
    values = {"holder": server_name, "until": current_unix_time() + lease_seconds}
    if connection.execute(update(leaders).where(leaders.c.name == "studio", free).values(values)).rowcount:
        return True
    if connection.execute(select(leaders.c.name)).first() is not None:
        return False
    connection.execute(insert(leaders).values(name="studio", **values))  # of two concurrent inserts, the key admits one
    return True


def leader_lease_end(connection: Connection) -> float | None:
    """Return when the lease of the last leader ends or ended; None if no server has been leader yet."""
    return connection.execute(select(leaders.c.until)).scalar()


# ---- write a snapshot


class Outdated(Exception):
    """The results are outdated and must not be published: a worker was erased or excluded, or another server is leader."""


def undo_partial_and_reserve_snapshot_number(engine: Engine, writer_id: str = "") -> int:
    """Reserve the next snapshot number for a writer and return it; undo the soft labels of an interrupted snapshot."""
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        number = get_newest_snapshot_number(connection) + 1
        if kv_get(connection, "writing") is not None:
            connection.execute(delete(soft_labels).where(soft_labels.c.since >= number))
            ended = soft_labels.c.until.between(number, OPEN_END - 1)
            connection.execute(update(soft_labels).where(ended).values(until=OPEN_END))
        kv_set(connection, "writing", writer_id)
    return number


def _raise_if_another_writer_has_begun_snapshot(connection: Connection, writer_id: str) -> None:
    """Fencing check: raise Outdated if another writer has begun a snapshot; lock out new ones until the commit."""
    current = select(facts.c.value).where(facts.c.name == "writing").with_for_update(read=True)
    if connection.execute(current).scalar() != json.dumps(writer_id):
        raise Outdated


def block_and_count_erasures_plus_imports(connection: Connection) -> int:
    """Block erasing and excluding workers until the transaction ends; return how often answers were erased or imported."""
    answer_counters.lock_counters_and_get_last_counted_answer_id(connection)
    return count_erasures_plus_imports(connection)


def write_and_count_changed_soft_labels(
    engine: Engine, snapshot_number: int, soft_label_rows: Iterable[SoftLabelRow], writer_id: str = ""
) -> int:
    """Write those soft labels that differ from the stored ones, valid from a snapshot on; return how many were written.

    Raise Outdated if another writer has begun a snapshot.
    """
    n = 0
    for part in batched((one.to_database_row() for one in soft_label_rows), ROWS_PER_TRANSACTION):
        ids = [one["task_id"] for one in part]
        with engine.connect() as connection:
            valid = select(soft_labels).where(soft_labels.c.task_id.in_(ids), soft_labels.c.until == OPEN_END)
            old = {row.task_id: row._asdict() for row in connection.execute(valid)}
        fresh = [one for one in part if not one.items() <= old.get(one["task_id"], {}).items()]
        if fresh:
            with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                _raise_if_another_writer_has_begun_snapshot(connection, writer_id)
                ids = [one["task_id"] for one in fresh]
                former = soft_labels.c.task_id.in_(ids) & (soft_labels.c.until == OPEN_END)
                connection.execute(update(soft_labels).where(former).values(until=snapshot_number))
                connection.execute(
                    insert(soft_labels), [{**one, "since": snapshot_number, "until": OPEN_END} for one in fresh]
                )
        n += len(fresh)
    return n


def publish_snapshot_or_raise_outdated(
    engine: Engine,
    snapshot_number: int,
    snapshot: Snapshot,
    expected_erasures: int = 0,
    aggregator_alert: str = "",
    writer_id: str = "",
) -> None:
    """Publish a snapshot as the newest one and save the alert of its aggregator; raise Outdated if it is superseded.

    Outdated: a worker was erased, excluded or reinstated in the meantime, or another writer has begun a snapshot.
    """
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
        _raise_if_another_writer_has_begun_snapshot(connection, writer_id)
        if (
            block_and_count_erasures_plus_imports(connection),
            count_exclusions_plus_reinstatements(connection),
        ) != (
            expected_erasures,
            snapshot.exclusion_changes,
        ):
            raise Outdated
        row = {
            "id": snapshot_number,
            "at": current_unix_time(),
            "last_answer": snapshot.last_answer,
            "body": snapshot.snapshot_statistics_to_json(),
        }
        connection.execute(insert(snapshots).values(row))
        old = (snapshots.c.at < current_unix_time() - KEEP_SECONDS) & (snapshots.c.id < snapshot_number)
        connection.execute(delete(snapshots).where(old))
        first = connection.execute(select(func.min(snapshots.c.id))).scalar_one()
        for name, value in (("published", snapshot_number), ("oldest", first), ("writing", None)):
            kv_set(connection, name, value)
        background_alerts.set_or_delete_alert_of_job(connection, "aggregator", aggregator_alert)
    _delete_soft_labels_replaced_before_snapshot(engine, first)


def _delete_soft_labels_replaced_before_snapshot(engine: Engine, oldest_kept_snapshot_number: int) -> None:
    """Delete from the database the soft labels that were replaced before the oldest snapshot that is kept."""
    past = (
        select(soft_labels.c.task_id, soft_labels.c.since)
        .where(soft_labels.c.until <= oldest_kept_snapshot_number)
        .limit(ROWS_PER_TRANSACTION)
    )
    key = tuple_(soft_labels.c.task_id, soft_labels.c.since)
    n = ROWS_PER_TRANSACTION
    while n == ROWS_PER_TRANSACTION:
        with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            n = connection.execute(delete(soft_labels).where(key.in_(past))).rowcount


# ---- invalidate snapshots


def count_erasures_plus_imports(connection: Connection) -> int:
    """Return how often answers were erased or imported; caches read all answers again when this number has changed."""
    return kv_get(connection, "erased") or 0


def count_exclusions_plus_reinstatements(connection: Connection) -> int:
    """Return how often workers were excluded or reinstated so far, which changes the answers that count."""
    return kv_get(connection, "recounted") or 0


def delete_result_snapshots_and_count_erasure(connection: Connection) -> None:
    """Delete all snapshots of the results and prevent publishing one being computed; used after an erasure or import."""
    connection.execute(delete(snapshots))
    kv_set(connection, "erased", count_erasures_plus_imports(connection) + 1)


def mark_latest_result_snapshot_stale(connection: Connection) -> None:
    """Mark the latest snapshot of the results as stale, after a worker was excluded or reinstated."""
    kv_set(connection, "recounted", count_exclusions_plus_reinstatements(connection) + 1)
