"""Scores of workers, and flags of odd answers: as a snapshot writes them, and as lists, a page at a time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_

from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.database import WRITES, batched
from plurivox.web.store.errors import LostPlace
from plurivox.web.store.ids import decode_id, encode_id
from plurivox.web.store.report.snapshots import latest_snapshot
from plurivox.web.store.report.task_detail import EACH_ANSWER
from plurivox.web.store.schema import answers, flags, sittings, standings, workers

WorkerOrder = Literal[
    "worker", "answers", "seconds", "flags", "seen", "agreement-with-rest", "repeat-consistency", "too-fast"
]
SCORES = {
    name: standings.c[name.replace("-", "_")] for name in ("agreement-with-rest", "repeat-consistency", "too-fast")
}
KEYS: dict[str, Any] = {"answers": standings.c.n, "seconds": standings.c.seconds, "flags": standings.c.flags}
AT_ONCE = 500  # rows in one transaction: some ten milliseconds
KEYS |= {"seen": workers.c.seen, **SCORES}


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
class WorkerLine:
    """A worker in a list."""

    worker: str
    stage: Stage
    status: Literal["active", "excluded", "erased"]
    answers: int
    median_seconds: float | None
    scores: dict[str, float | None]  # higher is worse
    flags: int
    last_seen: float


@dataclass(frozen=True)
class WorkerPage:
    """A part of the list of workers."""

    workers: list[WorkerLine]
    next: str | None


@dataclass(frozen=True)
class Flagged:
    """An odd answer."""

    answer: str
    worker: str
    task: str
    name: str
    flags: list[str]
    when: float


@dataclass(frozen=True)
class FlaggedPage:
    """A part of the list of odd answers, and how many there are of each kind."""

    flagged: list[Flagged]
    counts: dict[str, int]
    next: str | None


def worker_page(
    connection: Connection, after: str | None, limit: int, order: WorkerOrder = "worker", prefix: str = ""
) -> WorkerPage:
    """Workers by pseudonym, or by what the latest snapshot knows of them, the largest first."""
    done = select(func.sum(sittings.c.done)).where(sittings.c.worker_id == workers.c.id, sittings.c.number > 0)
    known = (standings.c.worker_id, standings.c.seconds, standings.c.flags, standings.c.seen.label("answered"))
    wanted = select(workers, *known, *SCORES.values(), done.scalar_subquery().label("done")).limit(limit + 1)
    wanted = wanted.outerjoin(standings, standings.c.worker_id == workers.c.id)
    if prefix:
        wanted = wanted.where(workers.c.pseudonym.startswith(prefix, autoescape=True))
    key = KEYS.get(order)
    if key is None:
        wanted = wanted.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym)
    else:
        down = func.coalesce(-key, 1e18)  # those of whom nothing is known come last
        wanted = wanted.add_columns(down.label("down")).order_by(down, workers.c.id)
        if after:
            wanted = wanted.where(tuple_(down, workers.c.id) > _after(after))
    rows = connection.execute(wanted).all()
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        following = last.pseudonym if key is None else f"{last.down!r}_{encode_id(last.id)}"
    return WorkerPage([_worker(row) for row in rows[:limit]], following)


def _after(place: str) -> tuple[float, int]:
    try:
        key, worker = place.split("_")
        value = float(key)
    except ValueError:
        raise LostPlace() from None
    if value != value:
        raise LostPlace()
    return value, decode_id(worker)


def _worker(row: Any) -> WorkerLine:
    known = row.worker_id is not None
    return WorkerLine(
        worker=row.pseudonym,
        stage=row.stage,
        status=row.status,
        answers=int(row.done or 0),
        median_seconds=row.seconds,
        scores={name: row._mapping[column] for name, column in SCORES.items()} if known else {},
        flags=row.flags or 0,
        last_seen=max(row.seen, row.answered or 0.0),
    )


def newest_first(
    connection: Connection, wanted: Any, key: Any, after: str | None, limit: int
) -> tuple[Sequence[Any], str | None]:
    """A page of rows by a counted key, the largest first, and the place where the next page begins.

    `key` is the first column of `wanted`. A place that is no such key is the beginning.
    """
    if after and after.isdigit() and len(after) < 19:
        wanted = wanted.where(key < int(after))
    rows = connection.execute(wanted.order_by(key.desc()).limit(limit + 1)).all()
    return rows[:limit], str(rows[limit - 1][0]) if len(rows) > limit else None


def flagged_page(connection: Connection, after: str | None, limit: int) -> FlaggedPage:
    """Odd answers, the newest first."""
    wanted = EACH_ANSWER.add_columns(flags.c.flags).join(flags, flags.c.answer_id == answers.c.id)
    rows, following = newest_first(connection, wanted.order_by(None), flags.c.answer_id, after, limit)
    lines = [
        Flagged(str(row.id), row.worker, encode_id(row.task_id), row.task, json.loads(row.flags), row.received)
        for row in rows
    ]
    return FlaggedPage(lines, latest_snapshot(connection).flags, following)


# ---- what a snapshot writes


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


def drop_scores(connection: Connection, worker: int) -> None:
    """Delete a person's scores, and the flags of their answers."""
    mine = select(answers.c.id).where(answers.c.worker_id == worker)
    connection.execute(delete(flags).where(flags.c.answer_id.in_(mine)))
    connection.execute(delete(standings).where(standings.c.worker_id == worker))
