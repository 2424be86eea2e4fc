"""Snapshots: what the background computed last, whether it is stale, and what makes it so."""

import json
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self, TypeVar

from sqlalchemy import Connection, delete, insert, select

from plurivox.web.store.collect.tasks import unknown
from plurivox.web.store.database import batched, now
from plurivox.web.store.facts import fact, set_fact
from plurivox.web.store.report.counters import SETTLES
from plurivox.web.store.schema import answers, beliefs, flags, slots, snapshots, standings

AT_ONCE = 500
NEWEST = select(answers.c.id, answers.c.received).order_by(answers.c.id.desc()).limit(1)
T = TypeVar("T")
Interval = tuple[float, float, float]  # a value and the ends of its 95% interval


@dataclass(frozen=True)
class Agreement:
    """How far people agree, with each other and with themselves."""

    scores: dict[str, float | None] = field(default_factory=dict)
    repeats: int = 0
    repeats_same_top: float | None = None  # share of repeats with the same top label
    by_hour: list[tuple[float, float, int]] = field(default_factory=list)  # hour, share with the top label, answers


@dataclass(frozen=True)
class Times:
    """Medians in seconds, and the learning curve."""

    first_input: float | None = None
    top_label: float | None = None
    active: float | None = None
    hidden: float | None = None
    by_position: list[tuple[int, float | None, int]] = field(default_factory=list)  # position, median, answers


@dataclass(frozen=True)
class Settled:
    """Tasks that next-best asks no more about: a further answer is expected to tell less than `least` nats."""

    tasks: int  # whose quota is not full
    spared: int  # answers that are not asked for
    least: float


@dataclass(frozen=True)
class ArmResult:
    """What the answers of one arm cost and what they are worth."""

    arm: str
    form: str
    wording: str
    people: int
    finished: int
    left: int
    drop_out: Interval | None
    answers: int
    seconds: Interval | None
    inputs: float | None
    entropy: float | None
    agreement: float | None
    against: str | None
    tasks: int
    accuracy: float | None
    match: float | None
    per_minute: float | None
    curve: list[tuple[int, float | None, float | None]]


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
    agreement: Agreement = Agreement()
    times: Times = Times()
    entropy: list[int] = field(default_factory=list)
    confidence: list[int] = field(default_factory=list)
    label_shares: dict[str, float] = field(default_factory=dict)
    settled: Settled | None = None
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
        for name, kind in (("agreement", Agreement), ("times", Times), ("settled", Settled)):
            if name in said:
                parts[name] = _made(kind, said[name])
        if "forms" in said:
            parts["forms"] = [_made(ArmResult, one) for one in said["forms"]]
        return _made(cls, said | parts)


def _made(kind: type[T], values: dict[str, Any]) -> T:
    """A dataclass of the values that it has fields for."""
    return kind(**{one.name: values[one.name] for one in fields(kind) if one.name in values})  # type: ignore[arg-type]


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
        settled = newest.received + SETTLES
        if latest.at < settled < now():
            return True
    return digest is not None and latest.asked != digest


def is_recomputing(connection: Connection, latest: Snapshot) -> bool:
    """Whether somebody was excluded or taken back since a snapshot was computed."""
    return latest.at is not None and latest.recounted != recounted(connection)


# ---- what makes snapshots stale


def erased(connection: Connection) -> int:
    """How often rows were taken away, or came in with numbers that may be passed already: all is read anew then."""
    return fact(connection, "erased") or 0


def recounted(connection: Connection) -> int:
    """How often somebody was excluded or taken back: their answers count no more, or again."""
    return fact(connection, "recounted") or 0


def forget(connection: Connection, worker: int) -> None:
    """Delete what was computed from a person's answers; what others say of their tasks comes with the next snapshot."""
    asked = select(answers.c.task_id).join(slots, slots.c.id == answers.c.slot_id)
    asked = asked.where(answers.c.worker_id == worker, slots.c.kind != "practice").distinct()
    drop_scores(connection, worker)
    for part in batched(connection.execute(asked).scalars().all(), AT_ONCE):
        connection.execute(delete(beliefs).where(beliefs.c.task_id.in_(part)))
        connection.execute(insert(beliefs), [unknown(task) for task in part])


def drop_scores(connection: Connection, worker: int) -> None:
    """Delete a person's scores, and the flags of their answers."""
    mine = select(answers.c.id).where(answers.c.worker_id == worker)
    connection.execute(delete(flags).where(flags.c.answer_id.in_(mine)))
    connection.execute(delete(standings).where(standings.c.worker_id == worker))


def count_differently(connection: Connection) -> None:
    """Answers are gone, or came in bulk: delete all snapshots, publish none that is being computed, read all anew."""
    connection.execute(delete(snapshots))
    set_fact(connection, "erased", erased(connection) + 1)


def recount(connection: Connection) -> None:
    """A person's answers count no more, or again: the latest snapshot stays, marked as stale, until the next one."""
    set_fact(connection, "recounted", recounted(connection) + 1)
