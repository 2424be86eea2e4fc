"""Write a snapshot in parts, so that no answer waits, and publish it; check that the writer still leads (fencing)."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, delete, func, insert, select, tuple_, update

from plurivox.web.store.collect.tasks import unknown
from plurivox.web.store.database import WRITES, batched, now
from plurivox.web.store.facts import fact, set_fact
from plurivox.web.store.report import alerts, counters
from plurivox.web.store.report.snapshots import Settled, Snapshot, erased, newest_number, recounted
from plurivox.web.store.schema import STILL, answers, beliefs, facts, flags, snapshots, standings, tasks

AT_ONCE = 500  # rows in one transaction: some ten milliseconds
KEPT = 900.0  # seconds for which a list stays as it was
NEW_GAIN = (  # whoever was given a slot meanwhile has lowered it already: then the next snapshot tells
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.given == bindparam("known"), tasks.c.gain.is_not(None))
    .values(gain=bindparam("new"))
)


class Outdated(Exception):
    """Somebody was erased or excluded, or another server leads since: what was computed must not be seen."""


@dataclass(frozen=True)
class SoftLabelRow:
    """The soft label of a task."""

    task_id: int
    n: int  # answers it rests on
    sure: float  # minus the entropy in nats; 1 where there is no answer
    soft: str  # [[label, p, low, high], ...] as JSON, the most probable first

    @classmethod
    def none(cls, task: int) -> "SoftLabelRow":
        """Of a task without answers."""
        row = unknown(task)
        return cls(task, row["n"], row["sure"], row["soft"])


@dataclass(frozen=True)
class WorkerScores:
    """Scores of a worker."""

    n: int
    seconds: float | None
    flags: int
    seen: float
    agreement_with_rest: float | None
    repeat_consistency: float | None
    too_fast: float | None


@dataclass(frozen=True)
class OpenTask:
    """A task in the queue that somebody was asked about already."""

    id: int
    given: int
    gain: float | None


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
    counters.hold(connection)
    return erased(connection)


def write_soft_labels(engine: Engine, number: int, new: Iterable[SoftLabelRow], by: str = "") -> int:
    """Write the soft labels that differ from those that hold; how many."""
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


def write_flags(engine: Engine, ids: Sequence[int], odd: Mapping[int, Sequence[str]]) -> None:
    """Write what is odd about the answers to these tasks, in place of their former flags."""
    for part in batched(ids, AT_ONCE):
        with engine.connect() as connection:
            said = select(flags).join(answers, answers.c.id == flags.c.answer_id).where(answers.c.task_id.in_(part))
            old = {row.answer_id: row.flags for row in connection.execute(said)}
            latest = select(answers.c.id).where(answers.c.task_id.in_(part))
            new = {one: json.dumps(odd[one]) for one in connection.execute(latest).scalars() if one in odd}
        gone = [one for one, names in old.items() if new.get(one) != names]
        fresh = [{"answer_id": one, "flags": names} for one, names in new.items() if old.get(one) != names]
        if gone or fresh:
            with engine.connect().execution_options(**WRITES) as connection, connection.begin():
                for few in batched(gone, AT_ONCE):
                    connection.execute(delete(flags).where(flags.c.answer_id.in_(few)))
                if fresh:
                    connection.execute(insert(flags), fresh)


def write_worker_scores(engine: Engine, lines: Mapping[int, WorkerScores]) -> None:
    """Write the scores of all workers, in place of the former ones."""
    with engine.connect() as connection:
        old = {row.worker_id: row._asdict() for row in connection.execute(select(standings))}
    new = {worker: {"worker_id": worker, **vars(line)} for worker, line in lines.items()}
    gone = [worker for worker, line in old.items() if new.get(worker) != line]
    fresh = [line for worker, line in new.items() if old.get(worker) != line]
    for part in batched([*gone, *(line["worker_id"] for line in fresh if line["worker_id"] not in old)], AT_ONCE):
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            connection.execute(delete(standings).where(standings.c.worker_id.in_(part)))
            if rows := [new[worker] for worker in part if worker in new]:
                connection.execute(insert(standings), rows)


def open_tasks(connection: Connection) -> list[OpenTask]:
    """The tasks of the queue that next-best orders."""
    wanted = select(tasks.c.id, tasks.c.given, tasks.c.gain).where(tasks.c.queue == "", tasks.c.given > 0)
    return [OpenTask(*row) for row in connection.execute(wanted)]


def update_gains(engine: Engine, changed: Iterable[OpenTask]) -> None:
    """Write new gains of tasks, except where a slot was given since `given` was read."""
    with engine.connect().execution_options(**WRITES) as connection:
        for part in batched(changed, AT_ONCE):
            with connection.begin():
                connection.execute(NEW_GAIN, [{"task": one.id, "known": one.given, "new": one.gain} for one in part])


def settled(connection: Connection, least: float) -> Settled:
    """How many tasks get no more answers although their quota is not full, and how many answers that saves."""
    wanted = select(func.count(), func.coalesce(func.sum(tasks.c.quota - tasks.c.given), 0))
    n, spared = connection.execute(wanted.where(tasks.c.queue == "", tasks.c.gain < least)).one()
    return Settled(n, int(spared), least)


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
