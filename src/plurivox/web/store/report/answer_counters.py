"""Running counters of answers: saved up to an answer id by the leader, plus a live count of the later answers.

The transaction that inserts an answer does not update them. The leader counts the next range of answer ids in each round and
saves the last counted id; a request adds the answers after it. A range is at most `MAX_RANGE` ids: after an import of
millions of answers the counters catch up over several rounds, and no request waits for them.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    String,
    cast,
    delete,
    func,
    insert,
    literal,
    select,
    text,
    update,
)

from plurivox.web.store.database import current_unix_time
from plurivox.web.store.report.answer_kinds import ANSWER_KIND_WITHOUT_RECOUNT, EXPORTED_KINDS
from plurivox.web.store.schema import answers, slots, tallies, tasks

MAX_RANGE = 100_000  # answer ids counted per query
COMMIT_SECONDS = 60.0  # PostgreSQL: after this time no answer with a smaller id can still be committed
Counts = Counter[tuple[str, str]]  # (what is counted, value) -> count, such as ("kind", "late") or ("hour", "473811")
COUNTED = ("kind", "hour", "given")  # counters of answers; others are of tasks
# Counters of earlier versions counted other things (hours included practice and replaced answers): they are ignored and
# then deleted, and all answers are counted again.
VERSION = "2"
LAST_COUNTED = (tallies.c.what == "mark") & (tallies.c.of == VERSION)
INSERT_LAST_COUNTED = text(
    f"INSERT INTO tallies (what, \"of\", n) VALUES ('mark', '{VERSION}', 0) ON CONFLICT DO NOTHING"
)


def _count_answers_by_kind_hour_and_stratum(connection: Connection, *sql_conditions: Any) -> Counts:
    """Return the number of answers that match SQL conditions: by kind (see `answer_kinds`), by hour, and by stratum.

    By hour are those in the table `answers` of the export; a changed answer is in the hour of its first version. By stratum
    are those that count for a quota.
    """
    hours = answers.c.received / 3600
    hour = cast(func.floor(hours) if connection.dialect.name != "sqlite" else hours, BigInteger)
    wanted = (
        select(ANSWER_KIND_WITHOUT_RECOUNT.label("what"), tasks.c.stratum, hour.label("at"), func.count().label("n"))
        .select_from(answers.join(slots, slots.c.id == answers.c.slot_id).join(tasks, tasks.c.id == answers.c.task_id))
        .where(*sql_conditions)
        .group_by("what", tasks.c.stratum, "at")
    )
    found: Counts = Counter()
    for row in connection.execute(wanted):
        found["kind", row.what] += row.n
        if row.what in EXPORTED_KINDS:
            found["hour", str(row.at)] += row.n
        if row.what == "counts":
            found["given", row.stratum] += row.n
    return found


def _last_counted_answer_id(connection: Connection) -> int:
    """Return the id of the last answer included in the saved counters of answers; 0 if none is."""
    return _last_counted_answer_id_and_valid_counters(connection)[0]


def _last_counted_answer_id_and_valid_counters(connection: Connection) -> tuple[int, ColumnElement[bool]]:
    """Return the id of the last answer in the saved counters, and the SQL condition of the counters that are valid.

    Until the leader has counted all answers again after an upgrade, the counters of answers are those of an earlier version:
    no answer is counted, and only the counters of tasks are valid.
    """
    counted = connection.execute(select(tallies.c.n).where(LAST_COUNTED)).scalar()
    return counted or 0, tallies.c.what.not_in(["mark", *(COUNTED if counted is None else ())])


def lock_counters_and_get_last_counted_answer_id(connection: Connection) -> int:
    """Lock the counters of answers until the transaction ends, and return the id of the last answer they include.

    Erasing or excluding a worker and lifting an exclusion lock them first too, so that none of them runs concurrently.
    """
    lock = update(tallies).where(LAST_COUNTED).values(n=tallies.c.n)
    if not connection.execute(lock).rowcount:
        if connection.execute(INSERT_LAST_COUNTED).rowcount:  # a concurrent insert waits for this one
            _delete_saved_answer_counters(connection)
            connection.execute(delete(tallies).where(tallies.c.what == "mark", ~LAST_COUNTED))
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
    counted, is_valid = _last_counted_answer_id_and_valid_counters(connection)
    rows = connection.execute(select(tallies).where(is_valid))
    found: Counts = Counter({(row.what, row.of): row.n for row in rows})
    found.update(
        _count_answers_by_kind_hour_and_stratum(connection, answers.c.id > counted, answers.c.id <= counted + MAX_RANGE)
    )
    return found


@dataclass(frozen=True)
class WantedAndGiven:
    """How many answers a study wants and has."""

    wanted: int
    given: int


def count_answers_wanted_and_given(connection: Connection) -> WantedAndGiven:
    """Return how many answers a study wants and has, quickly: answers since the last count are given ones, of whatever kind."""
    counted, is_valid = _last_counted_answer_id_and_valid_counters(connection)
    sums = select(tallies.c.what, func.sum(tallies.c.n)).where(tallies.c.what.in_(["wanted", "given"]), is_valid)
    found = {row[0]: int(row[1]) for row in connection.execute(sums.group_by(tallies.c.what))}
    later = select(func.count()).where(answers.c.id > counted, answers.c.id <= counted + MAX_RANGE)
    return WantedAndGiven(found.get("wanted", 0), found.get("given", 0) + connection.execute(later).scalar_one())


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
    _delete_saved_answer_counters(connection)
    connection.execute(update(tallies).where(LAST_COUNTED).values(n=0))


def _delete_saved_answer_counters(connection: Connection) -> None:
    """Delete the saved numbers of answers by kind, hour and stratum; those of tasks stay."""
    connection.execute(delete(tallies).where(tallies.c.what.in_(COUNTED)))


def recount_tasks_and_quotas_by_stratum(connection: Connection) -> None:
    """Recompute the saved numbers of tasks and of wanted answers per stratum, after tasks or quotas have changed."""
    connection.execute(delete(tallies).where(tallies.c.what.in_(["tasks", "wanted"])))
    for what, n in (("tasks", func.count()), ("wanted", func.sum(tasks.c.quota))):
        rows = select(literal(what, String), tasks.c.stratum, n).where(tasks.c.practice == 0).group_by(tasks.c.stratum)
        connection.execute(insert(tallies).from_select(["what", "of", "n"], rows))
