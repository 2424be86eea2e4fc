"""The pay sheet in the store: one line a worker, by pseudonym; and, for the command line alone, the platforms' ids."""

import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from plurivox.web import owner_schemas as o
from plurivox.web.store.items import batched, set_fact
from plurivox.web.store.people import fact
from plurivox.web.store.tables import pay, raw_ids, workers
from plurivox.web.study import Study

AT_ONCE = 1_000


def keep(connection: Connection, lines: Mapping[int, Mapping[str, Any]], total: str) -> None:
    """The sheet as it is now: only lines that have changed are written."""
    old = {row.worker_id: row.line for row in connection.execute(select(pay))}
    new = {worker: json.dumps(line) for worker, line in lines.items()}
    for part in batched([worker for worker in old if worker not in new], AT_ONCE):
        connection.execute(delete(pay).where(pay.c.worker_id.in_(part)))
    for worker, line in new.items():
        if old.get(worker, line) != line:
            connection.execute(update(pay).where(pay.c.worker_id == worker).values(line=line))
    fresh = [{"worker_id": worker, "line": line} for worker, line in new.items() if worker not in old]
    for rows in batched(fresh, AT_ONCE):
        connection.execute(insert(pay), rows)
    set_fact(connection, "pay", total)


def page(connection: Connection, study: Study, after: str | None, limit: int) -> o.PayPage:
    """Lines by pseudonym."""
    wanted = select(pay.c.line).join(workers, workers.c.id == pay.c.worker_id)
    wanted = wanted.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym).limit(limit + 1)
    rows = connection.execute(wanted).scalars().all()
    lines = [o.PayLine(**json.loads(line)) for line in rows[:limit]]
    return o.PayPage(
        lines=lines,
        currency=study.pay.currency,
        total=fact(connection, "pay") or "0.00",
        people=connection.execute(select(func.count()).select_from(pay)).scalar_one(),
        next=lines[-1].worker if len(rows) > limit else None,
    )


def platform_ids(connection: Connection) -> dict[int, tuple[str, str]]:
    """worker -> (platform, id there)."""
    return {row.worker_id: (row.platform, row.raw) for row in connection.execute(select(raw_ids))}
