"""Snapshots: write and publish them, check that the writer still leads (fencing), tell whether they are stale."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_, update

from plurivox.web.store.collect.tasks import unknown
from plurivox.web.store.database import WRITES, batched, now
from plurivox.web.store.kv import fact, set_fact
from plurivox.web.store.report import alerts, counters
from plurivox.web.store.report.study_progress import latest_snapshot
from plurivox.web.store.schema import STILL, answers, beliefs, facts, flags, slots, snapshots, standings, tasks
from plurivox.web.study.config import Study

AT_ONCE = 500  # rows in one transaction: some ten milliseconds
KEPT = 900.0  # seconds for which a list stays as it was
Belief = dict[str, Any]  # task_id, n, sure, soft


class Outdated(Exception):
    """Somebody was erased or left out, or another server leads since: what was computed must not be seen."""


def number_of(connection: Connection) -> int:
    """The newest snapshot that is seen."""
    return fact(connection, "published") or 0


def oldest(connection: Connection) -> int:
    """The oldest snapshot whose lists are whole."""
    return fact(connection, "oldest") or 0


def erased(connection: Connection) -> int:
    """How often rows were taken away, or came in with numbers that may be passed already: all is read anew then."""
    return fact(connection, "erased") or 0


def erased_by_now(connection: Connection) -> int:
    """The same, before what was computed is written: whoever erases somebody has done so, or waits until we commit."""
    counters.hold(connection)
    return erased(connection)


def recounted(connection: Connection) -> int:
    """How often somebody was left out or taken back: their answers count no more, or again."""
    return fact(connection, "recounted") or 0


def begin(engine: Engine, by: str = "") -> int:
    """The number of the next snapshot, and nobody writes it but `by`. What one that was broken off has left is taken back."""
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        number = number_of(connection) + 1
        if fact(connection, "writing") is not None:
            connection.execute(delete(beliefs).where(beliefs.c.since >= number))
            ended = beliefs.c.until.between(number, STILL - 1)
            connection.execute(update(beliefs).where(ended).values(until=STILL))
        set_fact(connection, "writing", by)
    return number


def _must_be(by: str, connection: Connection) -> None:
    """Refuse to go on for one that was held up for so long that another server leads; who begins anew waits for us."""
    held = select(facts.c.value).where(facts.c.name == "writing").with_for_update(read=True)
    if connection.execute(held).scalar() != json.dumps(by):
        raise Outdated


def believe(engine: Engine, number: int, new: Iterable[Belief], by: str = "") -> int:
    """Beliefs that differ from those that hold; how many."""
    n = 0
    for part in batched(new, AT_ONCE):
        ids = [one["task_id"] for one in part]
        with engine.connect() as connection:
            holds = select(beliefs).where(beliefs.c.task_id.in_(ids), beliefs.c.until == STILL)
            old = {row.task_id: row._asdict() for row in connection.execute(holds)}
        fresh = [one for one in part if not one.items() <= old.get(one["task_id"], {}).items()]
        if fresh:
            with engine.connect().execution_options(**WRITES) as connection, connection.begin():
                _must_be(by, connection)
                ids = [one["task_id"] for one in fresh]
                here = beliefs.c.task_id.in_(ids) & (beliefs.c.until == STILL)
                connection.execute(update(beliefs).where(here).values(until=number))
                connection.execute(insert(beliefs), [{**one, "since": number, "until": STILL} for one in fresh])
        n += len(fresh)
    return n


def believed(connection: Connection) -> Sequence[int]:
    """Tasks of which something is believed."""
    return (
        connection.execute(select(beliefs.c.task_id).where(beliefs.c.until == STILL, beliefs.c.n > 0)).scalars().all()
    )


def nothing_of(ids: Iterable[int]) -> Iterator[Belief]:
    """What is believed of tasks that have no answers any more."""
    for task in ids:
        row = unknown(task)
        yield {name: row[name] for name in ("task_id", "n", "sure", "soft")}


def flag(engine: Engine, ids: Sequence[int], odd: Mapping[int, Sequence[str]]) -> None:
    """What is odd about the answers to these tasks, in place of what was said of them before."""
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


def stand(engine: Engine, lines: Mapping[int, Mapping[str, Any]]) -> None:
    """What is known of workers."""
    with engine.connect() as connection:
        old = {row.worker_id: row._asdict() for row in connection.execute(select(standings))}
    new = {worker: {"worker_id": worker, **line} for worker, line in lines.items()}
    gone = [worker for worker, line in old.items() if new.get(worker) != line]
    fresh = [line for worker, line in new.items() if old.get(worker) != line]
    for part in batched([*gone, *(line["worker_id"] for line in fresh if line["worker_id"] not in old)], AT_ONCE):
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            connection.execute(delete(standings).where(standings.c.worker_id.in_(part)))
            if rows := [new[worker] for worker in part if worker in new]:
                connection.execute(insert(standings), rows)


def publish(
    engine: Engine,
    number: int,
    last: int,
    body: Mapping[str, Any],
    basis: tuple[int, int],
    trouble: str = "",
    by: str = "",
) -> None:
    """From now on this snapshot is the newest, unless other answers count by now than those it is made of."""
    with engine.connect().execution_options(**WRITES) as connection, connection.begin():
        _must_be(by, connection)
        if (erased_by_now(connection), recounted(connection)) != basis:
            raise Outdated
        row = {"id": number, "at": now(), "last_answer": last, "body": json.dumps(body)}
        connection.execute(insert(snapshots).values(row))
        old = (snapshots.c.at < now() - KEPT) & (snapshots.c.id < number)
        connection.execute(delete(snapshots).where(old))
        first = connection.execute(select(func.min(snapshots.c.id))).scalar_one()
        for name, value in (("published", number), ("oldest", first), ("writing", None)):
            set_fact(connection, name, value)
        alerts.tell(connection, "aggregator", trouble)
    _clear(engine, first)


def _clear(engine: Engine, first: int) -> None:
    """Beliefs that no list needs any more."""
    past = select(beliefs.c.task_id, beliefs.c.since).where(beliefs.c.until <= first).limit(AT_ONCE)
    key = tuple_(beliefs.c.task_id, beliefs.c.since)
    n = AT_ONCE
    while n == AT_ONCE:
        with engine.connect().execution_options(**WRITES) as connection, connection.begin():
            n = connection.execute(delete(beliefs).where(key.in_(past))).rowcount


def forget(connection: Connection, worker: int) -> None:
    """What was computed from a person's answers is known no more; what others say of their tasks comes with the next one."""
    asked = select(answers.c.task_id).join(slots, slots.c.id == answers.c.slot_id)
    asked = asked.where(answers.c.worker_id == worker, slots.c.kind != "practice").distinct()
    drop_scores(connection, worker)
    for part in batched(connection.execute(asked).scalars().all(), AT_ONCE):
        connection.execute(delete(beliefs).where(beliefs.c.task_id.in_(part)))
        connection.execute(insert(beliefs), [unknown(task) for task in part])


def drop_scores(connection: Connection, worker: int) -> None:
    """What is known of a person, and what is odd about their answers."""
    mine = select(answers.c.id).where(answers.c.worker_id == worker)
    connection.execute(delete(flags).where(flags.c.answer_id.in_(mine)))
    connection.execute(delete(standings).where(standings.c.worker_id == worker))


def count_differently(connection: Connection) -> None:
    """Answers are gone, or came in bulk: what is being computed is not published, and all are read anew."""
    connection.execute(delete(snapshots))
    set_fact(connection, "erased", erased(connection) + 1)


def recount(connection: Connection) -> None:
    """A person's answers count no more, or again: what is shown stays, told to be of before, until it is computed anew."""
    set_fact(connection, "recounted", recounted(connection) + 1)


def full_tasks(connection: Connection) -> dict[str, int]:
    """How many tasks of each stratum have all their answers, or soon will."""
    full = select(tasks.c.stratum, func.count()).where(tasks.c.practice == 0, tasks.c.given >= tasks.c.quota)
    return {row[0]: row[1] for row in connection.execute(full.group_by(tasks.c.stratum))}


NEWEST = select(answers.c.id, answers.c.received).order_by(answers.c.id.desc()).limit(1)


def is_stale(connection: Connection, study: Study | None = None) -> bool:
    """Whether there are answers that the latest snapshot does not know, or study.toml says something else since."""
    newest = connection.execute(NEWEST).first()
    at, known, body = latest_snapshot(connection)
    if (newest.id if newest else 0) != known or is_of_before(connection, body):
        return True
    if newest and at is not None and connection.dialect.name != "sqlite":
        # one with a smaller number may have been on its way: look once more when none can be any longer
        settled = newest.received + counters.SETTLES
        if at < settled < now():
            return True
    return study is not None and bool(body) and body.get("asked") != study.digest


def is_of_before(connection: Connection, body: Mapping[str, Any]) -> bool:
    """Whether somebody was left out or taken back since a snapshot was computed."""
    return bool(body) and body.get("recounted", 0) != recounted(connection)
