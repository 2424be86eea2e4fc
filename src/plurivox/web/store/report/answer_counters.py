"""Running counters of answers: saved up to an answer id by the leader, plus a live count of the later answers.

The transaction that inserts an answer does not update them. The leader counts the next range of answer ids in each round and
saves the last counted id; a request adds the answers after it. A range is at most `MAX_RANGE` ids: after an import of
millions of answers the counters catch up over several rounds, and no request waits for them.
"""

from collections import Counter
from typing import Any

from sqlalchemy import BigInteger, Connection, String, case, cast, delete, func, insert, literal, select, text, update

from plurivox.web.store.database import current_unix_time
from plurivox.web.store.schema import answers, slots, tallies, tasks

MAX_RANGE = 100_000  # answer ids counted per query
COMMIT_SECONDS = 60.0  # PostgreSQL: after this time no answer with a smaller id can still be committed
Counts = Counter[tuple[str, str]]  # (what is counted, value) -> count, such as ("kind", "task") or ("hour", "473811")
LAST_COUNTED = (tallies.c.what == "mark") & (tallies.c.of == "")
INSERT_LAST_COUNTED = text("INSERT INTO tallies (what, \"of\", n) VALUES ('mark', '', 0) ON CONFLICT DO NOTHING")
ANSWER_KIND = case(
    (answers.c.replaces.is_not(None), "replaced"),
    (slots.c.state == "excluded", "excluded"),
    ((answers.c.extra == 1) | (slots.c.state == "extra"), "extra"),
    else_=slots.c.kind,
)


def _count_answers_by_kind_hour_and_stratum(connection: Connection, *sql_conditions: Any) -> Counts:
    """Return the number of answers that match SQL conditions, by kind, by hour and, if they count for a quota, by stratum."""
    hours = answers.c.received / 3600
    hour = cast(func.floor(hours) if connection.dialect.name != "sqlite" else hours, BigInteger)
    wanted = (
        select(ANSWER_KIND.label("what"), tasks.c.stratum, hour.label("at"), func.count().label("n"))
        .select_from(answers.join(slots, slots.c.id == answers.c.slot_id).join(tasks, tasks.c.id == answers.c.task_id))
        .where(*sql_conditions)
        .group_by("what", tasks.c.stratum, "at")
    )
    found: Counts = Counter()
    for row in connection.execute(wanted):
        found["kind", row.what] += row.n
        found["hour", str(row.at)] += row.n
        if row.what == "task":
            found["given", row.stratum] += row.n
    return found


def _last_counted_answer_id(connection: Connection) -> int:
    """Return the id of the last answer included in the saved counters of answers; 0 if none is."""
    return connection.execute(select(tallies.c.n).where(LAST_COUNTED)).scalar() or 0


def lock_counters_and_get_last_counted_answer_id(connection: Connection) -> int:
    """Lock the counters of answers until the transaction ends, and return the id of the last answer they include.

    Erasing or excluding a worker and lifting an exclusion lock them first too, so that none of them runs concurrently.
    """
    lock = update(tallies).where(LAST_COUNTED).values(n=tallies.c.n)
    if not connection.execute(lock).rowcount:
        connection.execute(INSERT_LAST_COUNTED)  # a concurrent insert waits for this one
        connection.execute(lock)
    return _last_counted_answer_id(connection)


def _add_to_saved_answer_counters(connection: Connection, counts: Counts) -> None:
    """Add numbers, which may be negative, to the saved counters of answers in the database."""
    for (what, of), n in counts.items():
        counter = (tallies.c.what == what) & (tallies.c.of == of)
        if not connection.execute(update(tallies).where(counter).values(n=tallies.c.n + n)).rowcount:
            connection.execute(insert(tallies).values(what=what, of=of, n=n))


def newest_answer_id_with_all_earlier_committed(connection: Connection) -> int:
    """Return the newest answer id such that no answer with a smaller id can still be committed; 0 if there are no answers."""
    if connection.dialect.name == "sqlite":  # one writer at a time: ids are committed in order
        return connection.execute(select(func.max(answers.c.id))).scalar() or 0
    old = (
        select(answers.c.id)
        .where(answers.c.received < current_unix_time() - COMMIT_SECONDS)
        .order_by(answers.c.id.desc())
        .limit(1)
    )
    return connection.execute(old).scalar() or 0


def has_answers_not_in_saved_counters(connection: Connection) -> bool:
    """Return whether the database has committed answers that the saved counters do not include yet."""
    return newest_answer_id_with_all_earlier_committed(connection) > _last_counted_answer_id(connection)


def count_next_answers_and_return_has_more(connection: Connection) -> bool:
    """Add the next answers, at most `MAX_RANGE` ids, to the saved counters; return whether uncounted answers are left."""
    counted, last = (
        lock_counters_and_get_last_counted_answer_id(connection),
        newest_answer_id_with_all_earlier_committed(connection),
    )
    to = min(counted + MAX_RANGE, last)
    if to > counted:
        _add_to_saved_answer_counters(
            connection,
            _count_answers_by_kind_hour_and_stratum(connection, answers.c.id > counted, answers.c.id <= to),
        )
        connection.execute(update(tallies).where(LAST_COUNTED).values(n=to))
    return to < last


def saved_counters_plus_uncounted_answers(connection: Connection) -> Counts:
    """Return the current numbers of answers by kind, hour and stratum: saved counters plus the answers since then."""
    rows = connection.execute(select(tallies).where(tallies.c.what != "mark"))
    found: Counts = Counter({(row.what, row.of): row.n for row in rows})
    counted = _last_counted_answer_id(connection)
    found.update(
        _count_answers_by_kind_hour_and_stratum(connection, answers.c.id > counted, answers.c.id <= counted + MAX_RANGE)
    )
    return found


def subtract_worker_answers_from_counters(connection: Connection, worker: int) -> None:
    """Subtract a worker's answers from the saved counters, before the answers are deleted or change their kind."""
    last = lock_counters_and_get_last_counted_answer_id(connection)
    counts = _count_answers_by_kind_hour_and_stratum(connection, answers.c.worker_id == worker, answers.c.id <= last)
    _add_to_saved_answer_counters(connection, Counter({key: -n for key, n in counts.items()}))


def lower_last_counted_to_highest_answer_id(connection: Connection) -> None:
    """Lower the saved id of the last counted answer to the highest id left, since SQLite reuses the ids of deleted answers."""
    last = connection.execute(select(func.max(answers.c.id))).scalar() or 0
    connection.execute(update(tallies).where(LAST_COUNTED, tallies.c.n > last).values(n=last))


def add_worker_answers_to_counters(connection: Connection, worker: int) -> None:
    """Add a worker's answers to the saved counters again, after their kind (such as excluded) was changed."""
    last = lock_counters_and_get_last_counted_answer_id(connection)
    _add_to_saved_answer_counters(
        connection,
        _count_answers_by_kind_hour_and_stratum(connection, answers.c.worker_id == worker, answers.c.id <= last),
    )


def reset_answer_counters_to_zero(connection: Connection) -> None:
    """Set the saved counters of answers to zero, so that all answers are counted again; used after an import."""
    lock_counters_and_get_last_counted_answer_id(connection)
    connection.execute(delete(tallies).where(tallies.c.what.in_(["kind", "hour", "given"])))
    connection.execute(update(tallies).where(LAST_COUNTED).values(n=0))


def recount_tasks_and_quotas_by_stratum(connection: Connection) -> None:
    """Recompute the saved numbers of tasks and of wanted answers per stratum, after tasks or quotas have changed."""
    connection.execute(delete(tallies).where(tallies.c.what.in_(["tasks", "wanted"])))
    for what, n in (("tasks", func.count()), ("wanted", func.sum(tasks.c.quota))):
        rows = select(literal(what, String), tasks.c.stratum, n).where(tasks.c.practice == 0).group_by(tasks.c.stratum)
        connection.execute(insert(tallies).from_select(["what", "of", "n"], rows))
