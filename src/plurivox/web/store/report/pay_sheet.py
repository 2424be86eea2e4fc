"""The pay sheet: one line per worker, by pseudonym; what it needs of workers; and, for the command line alone, platform ids."""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict, dataclass

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from plurivox.web.store.database import batched
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.report.row_cache import RowCache
from plurivox.web.store.schema import pay, raw_ids, visits, workers

BATCH_ROWS = 1_000
UPDATE_LINE = update(pay).where(pay.c.worker_id == bindparam("who")).values(line=bindparam("new"))


@dataclass(frozen=True)
class PayLine:
    """What one person is paid, as exact decimals; `reasons` say how it came about."""

    worker: str
    answers: int
    active_minutes: str
    total_minutes: str
    matched: int
    compared: int  # answers to tasks that others have answered too
    base: str  # for taking part and for the time
    bonus: str
    total: str
    reasons: list[str]


@dataclass(frozen=True)
class PayPage:
    """A part of the sheet, and the sums of all of it."""

    lines: list[PayLine]
    total: str
    people: int
    next: str | None


@dataclass(frozen=True)
class Person:
    """Whom a line is about."""

    pseudonym: str
    born: float  # when they came


@dataclass(frozen=True)
class PlatformId:
    """By which name a platform knows a worker."""

    platform: str
    raw: str


def visit_cache() -> RowCache:
    """A log of all visits to pages, empty."""
    types = {"id": np.int64, "worker": np.int64, "at": np.float64, "ms": np.float64}
    return RowCache(select(visits.c.id, visits.c.worker_id, visits.c.at, visits.c.ms), types)


def find_people(connection: Connection, ids: Iterable[int]) -> dict[int, Person]:
    """worker -> who they are."""
    found: dict[int, Person] = {}
    for part in batched(sorted(ids), 500):
        who = select(workers.c.id, workers.c.pseudonym, workers.c.born).where(workers.c.id.in_(part))
        found |= {row.id: Person(row.pseudonym, row.born) for row in connection.execute(who)}
    return found


def write_pay_lines(connection: Connection, lines: Mapping[int, PayLine], total: str, by: str) -> None:
    """Write new lines in place of those that the same people had, the total of the whole sheet, and who keeps it."""
    for part in batched(lines, BATCH_ROWS):
        old = {row.worker_id: row.line for row in connection.execute(select(pay).where(pay.c.worker_id.in_(part)))}
        new = {worker: json.dumps(asdict(lines[worker])) for worker in part}
        changed = [{"who": worker, "new": line} for worker, line in new.items() if old.get(worker, line) != line]
        if changed:
            connection.execute(UPDATE_LINE, changed)
        if fresh := [{"worker_id": worker, "line": line} for worker, line in new.items() if worker not in old]:
            connection.execute(insert(pay), fresh)
    kv_set(connection, "pay", total)
    kv_set(connection, "pay by", by)


def last_writer(connection: Connection) -> str:
    """Who wrote the sheet: where another server has led meanwhile, its lines may be others."""
    return kv_get(connection, "pay by") or ""


def delete_other_lines(connection: Connection, people: Container[int]) -> None:
    """Delete the lines of all but these people."""
    gone = [worker for worker in connection.execute(select(pay.c.worker_id)).scalars() if worker not in people]
    for part in batched(gone, BATCH_ROWS):
        connection.execute(delete(pay).where(pay.c.worker_id.in_(part)))


def pay_page(connection: Connection, after: str | None, limit: int) -> PayPage:
    """Lines by pseudonym."""
    wanted = select(pay.c.line).join(workers, workers.c.id == pay.c.worker_id)
    wanted = wanted.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym).limit(limit + 1)
    rows = connection.execute(wanted).scalars().all()
    lines = [PayLine(**json.loads(line)) for line in rows[:limit]]
    n = connection.execute(select(func.count()).select_from(pay)).scalar_one()
    total = (n and kv_get(connection, "pay")) or "0.00"  # the last one may have been erased
    return PayPage(lines, total, n, next=lines[-1].worker if len(rows) > limit else None)


def platform_ids(connection: Connection) -> dict[int, PlatformId]:
    """worker -> platform and id there."""
    return {row.worker_id: PlatformId(row.platform, row.raw) for row in connection.execute(select(raw_ids))}
