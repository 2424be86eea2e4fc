"""The pay sheet in the store: one line a worker, by pseudonym; and, for the command line alone, the platforms' ids."""

import json
from collections.abc import Container, Mapping
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from plurivox.web.api import owner_schemas as o
from plurivox.web.store.database import batched
from plurivox.web.store.kv import fact, set_fact
from plurivox.web.store.schema import pay, raw_ids, workers
from plurivox.web.study.config import Study

AT_ONCE = 1_000
CHANGE = update(pay).where(pay.c.worker_id == bindparam("who")).values(line=bindparam("new"))


def keep(connection: Connection, lines: Mapping[int, Mapping[str, Any]], total: str, by: str) -> None:
    """New lines in place of those that the same people had, the total of the whole sheet, and who keeps it."""
    for part in batched(lines, AT_ONCE):
        old = {row.worker_id: row.line for row in connection.execute(select(pay).where(pay.c.worker_id.in_(part)))}
        new = {worker: json.dumps(lines[worker]) for worker in part}
        changed = [{"who": worker, "new": line} for worker, line in new.items() if old.get(worker, line) != line]
        if changed:
            connection.execute(CHANGE, changed)
        if fresh := [{"worker_id": worker, "line": line} for worker, line in new.items() if worker not in old]:
            connection.execute(insert(pay), fresh)
    set_fact(connection, "pay", total)
    set_fact(connection, "pay by", by)


def kept_by(connection: Connection) -> str:
    """Who wrote the sheet: where another server has led meanwhile, its lines may be others."""
    return fact(connection, "pay by") or ""


def drop_others(connection: Connection, people: Container[int]) -> None:
    """Only these people stay on the sheet."""
    gone = [worker for worker in connection.execute(select(pay.c.worker_id)).scalars() if worker not in people]
    for part in batched(gone, AT_ONCE):
        connection.execute(delete(pay).where(pay.c.worker_id.in_(part)))


def page(connection: Connection, study: Study, after: str | None, limit: int) -> o.PayPage:
    """Lines by pseudonym."""
    wanted = select(pay.c.line).join(workers, workers.c.id == pay.c.worker_id)
    wanted = wanted.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym).limit(limit + 1)
    rows = connection.execute(wanted).scalars().all()
    lines = [o.PayLine(**json.loads(line)) for line in rows[:limit]]
    people = connection.execute(select(func.count()).select_from(pay)).scalar_one()
    return o.PayPage(
        lines=lines,
        currency=study.pay.currency,
        total=(people and fact(connection, "pay")) or "0.00",  # the last one may have been erased
        people=people,
        next=lines[-1].worker if len(rows) > limit else None,
    )


def platform_ids(connection: Connection) -> dict[int, tuple[str, str]]:
    """worker -> (platform, id there)."""
    return {row.worker_id: (row.platform, row.raw) for row in connection.execute(select(raw_ids))}
