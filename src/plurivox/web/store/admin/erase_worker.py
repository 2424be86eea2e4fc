"""Erase a worker who withdraws consent: delete the personal data and answers, release the slots, write to the audit log.

Deleted: the platform id, every answer with its events and times, the draft, comments and times per page, scores computed from
them, reports (they contain such scores), and the reasons of an exclusion. Kept: an empty row under the pseudonym, so that the
person cannot enter again, and a line with counts in the audit log. The slots are released to other workers. SQLite overwrites
deleted rows (secure_delete), and `try_truncate_sqlite_wal` empties its write-ahead log; PostgreSQL keeps old rows in its files
until VACUUM FULL. PostgreSQL's log, and backups and downloads from before the erasure, are up to the operator.
"""

from typing import Any

from sqlalchemy import Connection, Engine, case, delete, func, or_, select, update

from plurivox.core.errors import InputError
from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.collect.leases import release_one_slot_and_requeue_each_task
from plurivox.web.store.report import answer_counters, report_pages, result_snapshots
from plurivox.web.store.report.stored_soft_labels_and_task_list import reset_soft_labels_of_tasks_answered_by_worker
from plurivox.web.store.report.worker_scores_and_flags import delete_scores_and_flags_of_worker
from plurivox.web.store.schema import answers, audit, drafts, exclusions, pay, raw_ids, sittings, slots, visits, workers

# every table that references a worker, referencing tables first; `delete_scores_and_flags_of_worker` deletes the scores
TABLES_OF_WORKER = (drafts, answers, slots, sittings, visits, raw_ids, exclusions, pay)


def erase_worker_and_return_audit_line(
    connection: Connection, audit_actor: str, pseudonym_or_platform_id: str
) -> dict[str, Any]:
    """Delete the personal data and answers of a worker; return the audit line: row counts deleted, and the fields kept.

    Raise InputError if there is no such worker.
    """
    query = select(workers.c.id, workers.c.pseudonym).outerjoin(raw_ids, raw_ids.c.worker_id == workers.c.id)
    query = query.where(or_(workers.c.pseudonym == pseudonym_or_platform_id, raw_ids.c.raw == pseudonym_or_platform_id))
    # a platform id may equal another worker's pseudonym
    by_pseudonym = case((workers.c.pseudonym == pseudonym_or_platform_id, 0), else_=1)
    row = connection.execute(query.order_by(by_pseudonym)).first()
    if row is None:
        raise InputError(
            f"there is no worker {pseudonym_or_platform_id!r}; give the pseudonym (see the export) or the platform's id"
        )
    gone = {
        "answers": _count_rows_of_worker(connection, answers, row.id),
        "visits": _count_rows_of_worker(connection, visits, row.id),
    }
    gone["platform ids"] = _count_rows_of_worker(connection, raw_ids, row.id)
    counted = select(slots.c.task_id).where(slots.c.worker_id == row.id, slots.c.number.is_not(None))
    released = connection.execute(counted).scalars().all()
    answer_counters.subtract_worker_answers_from_counters(connection, row.id)
    reset_soft_labels_of_tasks_answered_by_worker(connection, row.id)
    delete_scores_and_flags_of_worker(connection, row.id)
    for table in TABLES_OF_WORKER:
        if table is slots:
            connection.execute(update(slots).where(slots.c.worker_id == row.id).values(repeat_of=None))
        connection.execute(delete(table).where(table.c.worker_id == row.id))
    if n := connection.execute(
        delete(audit).where(_sql_condition_for_audit_lines_of_exclusion(row.pseudonym))
    ).rowcount:
        gone["lines of the audit"] = n
    if gone["answers"] and (n := report_pages.delete_report_pages_and_restart_jobs(connection)):
        gone["reports"] = n
    answer_counters.lower_last_counted_to_highest_answer_id(connection)
    release_one_slot_and_requeue_each_task(connection, released)
    result_snapshots.delete_result_snapshots_and_count_erasure(connection)
    connection.execute(update(workers).where(workers.c.id == row.id).values(status="erased", stage="done", door=None))
    line = {
        "worker": row.pseudonym,
        "gone": gone,
        "kept": ["pseudonym", "this line"],
        "slots given back": len(released),
    }
    append_to_audit_log(connection, audit_actor, "erase", **line)
    return line


def _sql_condition_for_audit_lines_of_exclusion(pseudonym: str) -> Any:
    """Return the SQL condition for audit lines about the exclusion of a worker, whose reasons reveal the answers."""
    is_exclusion = audit.c.what.in_(("exclude", "exclusion lifted"))
    return is_exclusion & audit.c.detail.contains(f'"worker": "{pseudonym}"', autoescape=True)


def _count_rows_of_worker(connection: Connection, table: Any, worker_id: int) -> int:
    """Return the number of rows in a table that belong to a worker."""
    return connection.execute(select(func.count()).where(table.c.worker_id == worker_id)).scalar_one()


def try_truncate_sqlite_wal(engine: Engine) -> bool:
    """Truncate SQLite's write-ahead log, which contains erased rows; False if a reader is active or it is not SQLite."""
    if engine.dialect.name != "sqlite":
        return False
    connection = engine.raw_connection()
    try:
        busy, _, _ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    finally:
        connection.close()
    return not busy
