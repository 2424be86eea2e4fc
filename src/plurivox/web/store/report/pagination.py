"""Lists for owners, a page at a time: where a page ends, the next one begins, whatever has been answered meanwhile.

Tasks by doubt or by answers are listed as of one snapshot, which the place in the list names: its beliefs stay as they were
for a quarter of an hour. A place is a key of an index, not a number of rows: the thousandth page is as fast as the first.
"""

import json
from typing import Any, Literal

from sqlalchemy import Connection, func, select, tuple_

from plurivox.web.api import owner_schemas as o
from plurivox.web.store.errors import Conflict, Invalid
from plurivox.web.store.ids import number_of, shown
from plurivox.web.store.report import snapshots
from plurivox.web.store.report.answer_log import EVERY
from plurivox.web.store.report.study_progress import LINE, latest_snapshot, line_of
from plurivox.web.store.schema import STILL, answers, beliefs, flags, sittings, standings, tasks, workers

Order = Literal["name", "entropy", "given"]
WorkerOrder = Literal[
    "worker", "answers", "seconds", "flags", "seen", "agreement-with-rest", "repeat-consistency", "too-fast"
]
SCORES = {
    name: standings.c[name.replace("-", "_")] for name in ("agreement-with-rest", "repeat-consistency", "too-fast")
}
HOLDS = beliefs.c.until + 0  # a sum has no index: the one on `until` would find all rows, and sort them
LAST = "\U0010ffff"


def _lost() -> Invalid:
    return Invalid("there is no such place in the list; begin at its first page")


def task_page(connection: Connection, after: str | None, limit: int, order: Order, prefix: str = "") -> o.TaskPage:
    """Tasks by name, by entropy (the most doubtful first) or by how few answers they have; found ones by name."""
    wanted = LINE.limit(limit + 1)
    if order == "name" or prefix:
        wanted = wanted.where(tasks.c.name >= prefix, tasks.c.name < prefix + LAST) if prefix else wanted
        return _by_name(connection, wanted, after, limit)
    snapshot, place = _place(connection, after)
    key = beliefs.c.sure if order == "entropy" else beliefs.c.n
    wanted = wanted.where(beliefs.c.since <= snapshot, snapshot < HOLDS).order_by(key, beliefs.c.task_id)
    if place is not None:
        wanted = wanted.where(tuple_(key, beliefs.c.task_id) > place)
    rows = connection.execute(wanted).all()
    following = None
    if len(rows) > limit:
        last = rows[limit - 1]
        following = f"{snapshot}_{last.sure if order == 'entropy' else last.n}_{shown(last.id)}"
    return o.TaskPage(tasks=[line_of(row) for row in rows[:limit]], next=following)


def _by_name(connection: Connection, wanted: Any, after: str | None, limit: int) -> o.TaskPage:
    """A name never changes: these are listed as they are."""
    wanted = wanted.where(HOLDS == STILL).order_by(tasks.c.name)
    if after:
        name = connection.execute(select(tasks.c.name).where(tasks.c.id == number_of(after))).scalar()
        if name is None:
            raise _lost()
        wanted = wanted.where(tasks.c.name > name)
    rows = connection.execute(wanted).all()
    following = shown(rows[limit - 1].id) if len(rows) > limit else None
    return o.TaskPage(tasks=[line_of(row) for row in rows[:limit]], next=following)


def _place(connection: Connection, after: str | None) -> tuple[int, Any]:
    """The snapshot that is listed, and the key of the last row that was shown."""
    newest = snapshots.number_of(connection)
    if not after:
        return newest, None
    try:
        number, key, task = after.split("_")
        snapshot, place = int(number), (float(key), number_of(task))
    except ValueError:
        raise _lost() from None
    if not 0 <= snapshot <= newest or place[0] != place[0] or abs(place[0]) > 1e9:
        raise _lost()
    if snapshot < snapshots.oldest(connection):
        raise Conflict("list-renewed", "this list has been renewed since; begin at its first page")
    return snapshot, place


def worker_page(
    connection: Connection, after: str | None, limit: int, order: WorkerOrder = "worker", prefix: str = ""
) -> o.WorkerPage:
    """Workers by pseudonym, or by what the latest snapshot knows of them, the largest first."""
    done = select(func.sum(sittings.c.done)).where(sittings.c.worker_id == workers.c.id, sittings.c.number > 0)
    known = (standings.c.worker_id, standings.c.seconds, standings.c.flags, standings.c.seen.label("answered"))
    wanted = select(workers, *known, *SCORES.values(), done.scalar_subquery().label("done")).limit(limit + 1)
    wanted = wanted.outerjoin(standings, standings.c.worker_id == workers.c.id)
    if prefix:
        wanted = wanted.where(workers.c.pseudonym.startswith(prefix, autoescape=True))
    keys = {
        "answers": standings.c.n,
        "seconds": standings.c.seconds,
        "flags": standings.c.flags,
        "seen": workers.c.seen,
    }
    key = {**keys, **SCORES}.get(order)
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
    return o.WorkerPage(workers=[_worker(row) for row in rows[:limit]], next=following)


def _after(place: str) -> tuple[float, int]:
    try:
        key, worker = place.split("_")
        value = float(key)
    except ValueError:
        raise _lost() from None
    if value != value:
        raise _lost()
    return value, number_of(worker)


def _worker(row: Any) -> o.WorkerLine:
    known = row.worker_id is not None
    return o.WorkerLine(
        worker=row.pseudonym,
        stage=row.stage,
        status=row.status,
        answers=int(row.done or 0),
        median_seconds=row.seconds,
        scores={name: row._mapping[column] for name, column in SCORES.items()} if known else {},
        flags=row.flags or 0,
        last_seen=max(row.seen, row.answered or 0.0),
    )


def flagged_page(connection: Connection, after: str | None, limit: int) -> o.FlaggedPage:
    """Odd answers, the newest first."""
    wanted = EVERY.add_columns(flags.c.flags).join(flags, flags.c.answer_id == answers.c.id)
    if after and after.isdigit() and len(after) < 19:
        wanted = wanted.where(flags.c.answer_id < int(after))
    rows = connection.execute(wanted.order_by(None).order_by(flags.c.answer_id.desc()).limit(limit + 1)).all()
    counts = latest_snapshot(connection)[2].get("flags", {})
    lines = [
        o.Flagged(
            answer=str(row.id),
            worker=row.worker,
            task=shown(row.task_id),
            name=row.task,
            flags=json.loads(row.flags),
            when=row.received,
        )
        for row in rows[:limit]
    ]
    return o.FlaggedPage(flagged=lines, counts=counts, next=lines[-1].answer if len(rows) > limit else None)
