"""Workers with their scores, and odd answers: lists, a page at a time."""

import json
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, func, select, tuple_

from plurivox.web.store.ids import number_of, shown
from plurivox.web.store.report.answer_log import EVERY
from plurivox.web.store.report.snapshots import latest_snapshot
from plurivox.web.store.report.task_results import lost_place
from plurivox.web.store.schema import answers, flags, sittings, standings, workers

WorkerOrder = Literal[
    "worker", "answers", "seconds", "flags", "seen", "agreement-with-rest", "repeat-consistency", "too-fast"
]
SCORES = {
    name: standings.c[name.replace("-", "_")] for name in ("agreement-with-rest", "repeat-consistency", "too-fast")
}
KEYS: dict[str, Any] = {"answers": standings.c.n, "seconds": standings.c.seconds, "flags": standings.c.flags}
KEYS |= {"seen": workers.c.seen, **SCORES}


@dataclass(frozen=True)
class WorkerLine:
    """A worker in a list."""

    worker: str
    stage: str
    status: str
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
        following = last.pseudonym if key is None else f"{last.down!r}_{shown(last.id)}"
    return WorkerPage([_worker(row) for row in rows[:limit]], following)


def _after(place: str) -> tuple[float, int]:
    try:
        key, worker = place.split("_")
        value = float(key)
    except ValueError:
        raise lost_place() from None
    if value != value:
        raise lost_place()
    return value, number_of(worker)


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


def flagged_page(connection: Connection, after: str | None, limit: int) -> FlaggedPage:
    """Odd answers, the newest first."""
    wanted = EVERY.add_columns(flags.c.flags).join(flags, flags.c.answer_id == answers.c.id)
    if after and after.isdigit() and len(after) < 19:
        wanted = wanted.where(flags.c.answer_id < int(after))
    rows = connection.execute(wanted.order_by(None).order_by(flags.c.answer_id.desc()).limit(limit + 1)).all()
    lines = [
        Flagged(str(row.id), row.worker, shown(row.task_id), row.task, json.loads(row.flags), row.received)
        for row in rows[:limit]
    ]
    return FlaggedPage(lines, latest_snapshot(connection).flags, lines[-1].answer if len(rows) > limit else None)
