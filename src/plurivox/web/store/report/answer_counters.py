"""Counts that cost the same in a study of any size: kept up to a mark by the leader, counted live from there on.

Nothing is added to the transaction that takes an answer. The leader moves the mark forward in rounds, over a stretch of the
answers' own key; a request adds what came after it, which is a stretch of that key too. A stretch is never longer than
`MAX_RANGE`: after an import of millions the counts catch up over some rounds, and no request waits for them.
"""

from collections import Counter
from typing import Any

from sqlalchemy import BigInteger, Connection, String, case, cast, delete, func, insert, literal, select, text, update

from plurivox.web.store.database import now
from plurivox.web.store.schema import answers, slots, tallies, tasks

MAX_RANGE = 100_000  # answers counted at a time
COMMIT_SECONDS = 60.0  # PostgreSQL: seconds after which no answer with a smaller number is still to be committed
Counts = Counter[tuple[str, str]]  # (what, of) -> how many
LAST_COUNTED = (tallies.c.what == "mark") & (tallies.c.of == "")
INSERT_LAST_COUNTED = text("INSERT INTO tallies (what, \"of\", n) VALUES ('mark', '', 0) ON CONFLICT DO NOTHING")
ANSWER_KIND = case(
    (answers.c.replaces.is_not(None), "replaced"),
    (slots.c.state == "excluded", "excluded"),
    ((answers.c.extra == 1) | (slots.c.state == "extra"), "extra"),
    else_=slots.c.kind,
)


def _count_answers(connection: Connection, *which: Any) -> Counts:
    """Answers by kind, by hour and, the first ones on a slot that counts, by stratum."""
    hours = answers.c.received / 3600
    hour = cast(func.floor(hours) if connection.dialect.name != "sqlite" else hours, BigInteger)
    wanted = (
        select(ANSWER_KIND.label("what"), tasks.c.stratum, hour.label("at"), func.count().label("n"))
        .select_from(answers.join(slots, slots.c.id == answers.c.slot_id).join(tasks, tasks.c.id == answers.c.task_id))
        .where(*which)
        .group_by("what", tasks.c.stratum, "at")
    )
    found: Counts = Counter()
    for row in connection.execute(wanted):
        found["kind", row.what] += row.n
        found["hour", str(row.at)] += row.n
        if row.what == "task":
            found["given", row.stratum] += row.n
    return found


def _last_counted(connection: Connection) -> int:
    return connection.execute(select(tallies.c.n).where(LAST_COUNTED)).scalar() or 0


def lock_counters(connection: Connection) -> int:
    """Lock the row of the mark until we commit, and return the mark. Erasing, excluding and taking back lock it first too, so
    that none of them runs meanwhile."""
    held = update(tallies).where(LAST_COUNTED).values(n=tallies.c.n)
    if not connection.execute(held).rowcount:
        connection.execute(INSERT_LAST_COUNTED)  # of two that begin at once, one waits for the other
        connection.execute(held)
    return _last_counted(connection)


def _add_counts(connection: Connection, more: Counts) -> None:
    for (what, of), n in more.items():
        here = (tallies.c.what == what) & (tallies.c.of == of)
        if not connection.execute(update(tallies).where(here).values(n=tallies.c.n + n)).rowcount:
            connection.execute(insert(tallies).values(what=what, of=of, n=n))


def last_committed_id(connection: Connection) -> int:
    """The newest answer id below which no answer can still be committed."""
    if connection.dialect.name == "sqlite":  # one writes at a time: numbers are committed in order
        return connection.execute(select(func.max(answers.c.id))).scalar() or 0
    old = select(answers.c.id).where(answers.c.received < now() - COMMIT_SECONDS).order_by(answers.c.id.desc()).limit(1)
    return connection.execute(old).scalar() or 0


def has_uncounted_answers(connection: Connection) -> bool:
    """Whether the mark can be moved."""
    return last_committed_id(connection) > _last_counted(connection)


def count_next_range(connection: Connection) -> bool:
    """Count one stretch more; whether there is more to count."""
    mark, last = lock_counters(connection), last_committed_id(connection)
    to = min(mark + MAX_RANGE, last)
    if to > mark:
        _add_counts(connection, _count_answers(connection, answers.c.id > mark, answers.c.id <= to))
        connection.execute(update(tallies).where(LAST_COUNTED).values(n=to))
    return to < last


def current_counts(connection: Connection) -> Counts:
    """Every count as it is now."""
    rows = connection.execute(select(tallies).where(tallies.c.what != "mark"))
    found: Counts = Counter({(row.what, row.of): row.n for row in rows})
    mark = _last_counted(connection)
    found.update(_count_answers(connection, answers.c.id > mark, answers.c.id <= mark + MAX_RANGE))
    return found


def subtract_worker(connection: Connection, worker: int) -> None:
    """Count this person's answers no more; before they are deleted."""
    mark = lock_counters(connection)
    gone = _count_answers(connection, answers.c.worker_id == worker, answers.c.id <= mark)
    _add_counts(connection, Counter({key: -n for key, n in gone.items()}))


def lower_last_counted(connection: Connection) -> None:
    """The mark goes no further than the last answer: SQLite gives the numbers of deleted ones out again."""
    last = connection.execute(select(func.max(answers.c.id))).scalar() or 0
    connection.execute(update(tallies).where(LAST_COUNTED, tallies.c.n > last).values(n=last))


def add_worker_back(connection: Connection, worker: int) -> None:
    """Count this person's answers as they are now; after `subtract_worker`, and whatever changed."""
    mark = lock_counters(connection)
    _add_counts(connection, _count_answers(connection, answers.c.worker_id == worker, answers.c.id <= mark))


def reset_counters(connection: Connection) -> None:
    """Begin at the first answer again: many came in at once, perhaps with numbers before the mark."""
    lock_counters(connection)
    connection.execute(delete(tallies).where(tallies.c.what.in_(["kind", "hour", "given"])))
    connection.execute(update(tallies).where(LAST_COUNTED).values(n=0))


def recount_tasks(connection: Connection) -> None:
    """Tasks and wanted answers by stratum; whenever tasks or quotas change."""
    connection.execute(delete(tallies).where(tallies.c.what.in_(["tasks", "wanted"])))
    for what, n in (("tasks", func.count()), ("wanted", func.sum(tasks.c.quota))):
        rows = select(literal(what, String), tasks.c.stratum, n).where(tasks.c.practice == 0).group_by(tasks.c.stratum)
        connection.execute(insert(tallies).from_select(["what", "of", "n"], rows))
