"""Withdrawal of consent: what goes, what stays, and a line about it in the audit.

Gone: the person's id, every answer with its events and times, the unfinished one, comments and times per page, what was
computed from them, and why they were left out, if they were. Kept: an empty row under the pseudonym, so that the person is
not asked again, and the audit's line with counts. The tasks get their slots back. SQLite overwrites what is deleted
(secure_delete), and `truncate_wal` empties its log; PostgreSQL keeps old rows in its files until VACUUM FULL, and its own log and
every backup made before are matters of whoever runs it.
"""

from typing import Any

from sqlalchemy import Connection, Engine, case, delete, func, or_, select, update

from plurivox.core.errors import InputError
from plurivox.web.store.admin.audit_log import log_audit
from plurivox.web.store.collect.leases import return_slots
from plurivox.web.store.report import answer_counters, snapshots
from plurivox.web.store.report.soft_labels import reset_soft_labels
from plurivox.web.store.report.worker_results import delete_scores
from plurivox.web.store.schema import answers, audit, drafts, exclusions, pay, raw_ids, sittings, slots, visits, workers

# every table that points to a worker, in the order in which they point to each other; scores are dropped by themselves
TABLES_OF_WORKER = (drafts, answers, slots, sittings, visits, raw_ids, exclusions, pay)


def erase_worker(connection: Connection, who: str, name: str) -> dict[str, Any]:
    """Erase a worker, named by pseudonym or by the platform's id; what went and what stays."""
    wanted = select(workers.c.id, workers.c.pseudonym).outerjoin(raw_ids, raw_ids.c.worker_id == workers.c.id)
    wanted = wanted.where(or_(workers.c.pseudonym == name, raw_ids.c.raw == name))
    by_pseudonym = case((workers.c.pseudonym == name, 0), else_=1)  # anybody may call themselves like a pseudonym
    row = connection.execute(wanted.order_by(by_pseudonym)).first()
    if row is None:
        raise InputError(f"there is no worker {name!r}; give the pseudonym (see the export) or the platform's id")
    gone = {"answers": _count_rows(connection, answers, row.id), "visits": _count_rows(connection, visits, row.id)}
    gone["platform ids"] = _count_rows(connection, raw_ids, row.id)
    counted = select(slots.c.task_id).where(slots.c.worker_id == row.id, slots.c.number.is_not(None))
    back = connection.execute(counted).scalars().all()
    answer_counters.subtract_worker(connection, row.id)
    reset_soft_labels(connection, row.id)
    delete_scores(connection, row.id)
    for table in TABLES_OF_WORKER:
        if table is slots:
            connection.execute(update(slots).where(slots.c.worker_id == row.id).values(repeat_of=None))
        connection.execute(delete(table).where(table.c.worker_id == row.id))
    if n := connection.execute(delete(audit).where(_exclusion_lines(row.pseudonym))).rowcount:
        gone["lines of the audit"] = n
    answer_counters.lower_last_counted(connection)
    return_slots(connection, back)
    snapshots.drop_snapshots(connection)
    connection.execute(update(workers).where(workers.c.id == row.id).values(status="erased", stage="done", door=None))
    told = {"worker": row.pseudonym, "gone": gone, "kept": ["pseudonym", "this line"], "slots given back": len(back)}
    log_audit(connection, who, "erase", **told)
    return told


def _exclusion_lines(pseudonym: str) -> Any:
    """Lines of the audit that say how a person was left out: their reasons come from the answers."""
    told = audit.c.what.in_(("exclude", "exclusion lifted"))
    return told & audit.c.detail.contains(f'"worker": "{pseudonym}"', autoescape=True)


def _count_rows(connection: Connection, table: Any, worker: int) -> int:
    return connection.execute(select(func.count()).where(table.c.worker_id == worker)).scalar_one()


def truncate_wal(engine: Engine) -> bool:
    """Take what was erased out of SQLite's log; False where somebody is still reading it, or it is another database."""
    if engine.dialect.name != "sqlite":
        return False
    connection = engine.raw_connection()
    try:
        busy, _, _ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    return not busy
