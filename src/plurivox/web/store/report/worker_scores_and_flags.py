"""Scores of workers and flags of answers: write them with a snapshot, list them one page at a time."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Engine, delete, func, insert, select, tuple_

from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.database import WRITE_OPTIONS, batched
from plurivox.web.store.errors import InvalidCursor
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.store.report.result_snapshots import get_latest_or_default_result_snapshot
from plurivox.web.store.report.task_detail import ALL_ANSWERS
from plurivox.web.store.schema import answers, flags, sittings, standings, workers

WorkerOrder = Literal[
    "worker", "answers", "seconds", "flags", "seen", "agreement-with-rest", "repeat-consistency", "too-fast"
]
SCORE_COLUMNS = {
    name: standings.c[name.replace("-", "_")] for name in ("agreement-with-rest", "repeat-consistency", "too-fast")
}
ORDER_COLUMNS: dict[str, Any] = {"answers": standings.c.n, "seconds": standings.c.seconds, "flags": standings.c.flags}
ROWS_PER_TRANSACTION = 500  # takes some ten milliseconds
ORDER_COLUMNS |= {"seen": workers.c.seen, **SCORE_COLUMNS}


@dataclass(frozen=True)
class WorkerScores:
    """Badness of one worker by each score (higher is worse), number of answers and of flagged answers, median seconds and
    time of the last answer.
    """

    n: int
    seconds: float | None
    flags: int
    seen: float
    agreement_with_rest: float | None  # 1 - agreement
    repeat_consistency: float | None
    too_fast: float | None


@dataclass(frozen=True)
class WorkerLine:
    """A line of the list of workers: pseudonym, stage, status and scores."""

    worker: str
    stage: Stage
    status: Literal["active", "excluded", "erased"]
    answers: int
    median_seconds: float | None
    scores: dict[str, float | None]  # as published: agreement with the others, share of changed repeats, share too fast
    flags: int
    last_seen: float


@dataclass(frozen=True)
class WorkerPage:
    """One page of the list of workers."""

    workers: list[WorkerLine]
    next: str | None


@dataclass(frozen=True)
class FlaggedAnswer:
    """A line of the list of flagged answers: worker, task, flags (such as too-fast) and time of an answer."""

    answer: str
    worker: str
    task: str
    name: str
    flags: list[str]
    when: float


@dataclass(frozen=True)
class FlaggedPage:
    """One page of the list of flagged answers, and the number of answers per flag."""

    flagged: list[FlaggedAnswer]
    counts: dict[str, int]
    next: str | None


def get_page_of_workers(
    connection: Connection, after: str | None, limit: int, order: WorkerOrder = "worker", prefix: str = ""
) -> WorkerPage:
    """Return one page of workers by pseudonym, or by a score of the latest snapshot, the worst first; filter by `prefix`.

    `after` is the cursor of the page before; raise InvalidCursor if it is not valid.
    """
    done = select(func.sum(sittings.c.done)).where(sittings.c.worker_id == workers.c.id, sittings.c.number > 0)
    known = (standings.c.worker_id, standings.c.seconds, standings.c.flags, standings.c.seen.label("answered"))
    query = select(workers, *known, *SCORE_COLUMNS.values(), done.scalar_subquery().label("done")).limit(limit + 1)
    query = query.outerjoin(standings, standings.c.worker_id == workers.c.id)
    if prefix:
        query = query.where(workers.c.pseudonym.startswith(prefix, autoescape=True))
    key = ORDER_COLUMNS.get(order)
    if key is None:
        query = query.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym)
    else:
        down = func.coalesce(-key, 1e18)  # workers without a value come last
        query = query.add_columns(down.label("down")).order_by(down, workers.c.id)
        if after:
            query = query.where(tuple_(down, workers.c.id) > _parse_cursor_to_sort_key_and_worker_id(after))
    rows = connection.execute(query).all()
    next_cursor = None
    if len(rows) > limit:
        last = rows[limit - 1]
        next_cursor = last.pseudonym if key is None else f"{last.down!r}_{encode_id(last.id)}"
    return WorkerPage([_worker_list_line_from_row(row) for row in rows[:limit]], next_cursor)


def _parse_cursor_to_sort_key_and_worker_id(cursor: str) -> tuple[float, int]:
    """Return the sort key and worker id at which the next page of workers begins; raise InvalidCursor if not parseable."""
    try:
        key, worker = cursor.split("_")
        value = float(key)
    except ValueError:
        raise InvalidCursor() from None
    if value != value:
        raise InvalidCursor()
    return value, decode_id(worker)


def _worker_list_line_from_row(row: Any) -> WorkerLine:
    """Convert a database row of a worker and the worker's scores to a line of the list of workers."""
    has_scores = row.worker_id is not None
    return WorkerLine(
        worker=row.pseudonym,
        stage=row.stage,
        status=row.status,
        answers=int(row.done or 0),
        median_seconds=row.seconds,
        scores=_published_scores_from_stored_badness(row) if has_scores else {},
        flags=row.flags or 0,
        last_seen=max(row.seen, row.answered or 0.0),
    )


def _published_scores_from_stored_badness(row: Any) -> dict[str, float | None]:
    """Return the scores of a worker as published, from the badness in a database row: agreement is 1 - its badness."""
    scores = {name: row._mapping[column] for name, column in SCORE_COLUMNS.items()}
    if (disagreement := scores["agreement-with-rest"]) is not None:
        scores["agreement-with-rest"] = round(1 - disagreement, 5)
    return scores


def fetch_page_by_descending_key(
    connection: Connection, query: Any, key_column: Any, after: str | None, limit: int
) -> tuple[Sequence[Any], str | None]:
    """Return one page of a query's rows, the largest integer key first, and the cursor of the next page (None at the end).

    `key_column` is the first column of `query`. A cursor `after` that is not an integer is ignored.
    """
    if after and after.isdigit() and len(after) < 19:
        query = query.where(key_column < int(after))
    rows = connection.execute(query.order_by(key_column.desc()).limit(limit + 1)).all()
    return rows[:limit], str(rows[limit - 1][0]) if len(rows) > limit else None


def get_page_of_flagged_answers(connection: Connection, after: str | None, limit: int) -> FlaggedPage:
    """Return one page of flagged answers, the newest first."""
    query = ALL_ANSWERS.add_columns(flags.c.flags).join(flags, flags.c.answer_id == answers.c.id)
    rows, next_cursor = fetch_page_by_descending_key(connection, query.order_by(None), flags.c.answer_id, after, limit)
    lines = [
        FlaggedAnswer(str(row.id), row.worker, encode_id(row.task_id), row.task, json.loads(row.flags), row.received)
        for row in rows
    ]
    return FlaggedPage(lines, get_latest_or_default_result_snapshot(connection).flags, next_cursor)


# ---- write with a snapshot


def replace_flags_of_answers_to_tasks(
    engine: Engine, task_ids: Sequence[int], flags_by_answer: Mapping[int, Sequence[str]]
) -> None:
    """Replace in the database the flags of all answers to these tasks by those in `flags_by_answer`."""
    for part in batched(task_ids, ROWS_PER_TRANSACTION):
        with engine.connect() as connection:
            former = select(flags).join(answers, answers.c.id == flags.c.answer_id).where(answers.c.task_id.in_(part))
            old = {row.answer_id: row.flags for row in connection.execute(former)}
            latest = select(answers.c.id).where(answers.c.task_id.in_(part))
            new = {
                one: json.dumps(flags_by_answer[one])
                for one in connection.execute(latest).scalars()
                if one in flags_by_answer
            }
        gone = [one for one, names in old.items() if new.get(one) != names]
        fresh = [{"answer_id": one, "flags": names} for one, names in new.items() if old.get(one) != names]
        if gone or fresh:
            with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
                for few in batched(gone, ROWS_PER_TRANSACTION):
                    connection.execute(delete(flags).where(flags.c.answer_id.in_(few)))
                if fresh:
                    connection.execute(insert(flags), fresh)


def replace_scores_of_all_workers(engine: Engine, scores_by_worker: Mapping[int, WorkerScores]) -> None:
    """Replace in the database the scores of all workers by those in `scores_by_worker`."""
    with engine.connect() as connection:
        old = {row.worker_id: row._asdict() for row in connection.execute(select(standings))}
    new = {worker: {"worker_id": worker, **vars(line)} for worker, line in scores_by_worker.items()}
    gone = [worker for worker, line in old.items() if new.get(worker) != line]
    fresh = [line for worker, line in new.items() if old.get(worker) != line]
    for part in batched(
        [*gone, *(line["worker_id"] for line in fresh if line["worker_id"] not in old)], ROWS_PER_TRANSACTION
    ):
        with engine.connect().execution_options(**WRITE_OPTIONS) as connection, connection.begin():
            connection.execute(delete(standings).where(standings.c.worker_id.in_(part)))
            if rows := [new[worker] for worker in part if worker in new]:
                connection.execute(insert(standings), rows)


def delete_scores_and_flags_of_worker(connection: Connection, worker_id: int) -> None:
    """Delete from the database the scores of a worker and the flags of the worker's answers."""
    of_worker = select(answers.c.id).where(answers.c.worker_id == worker_id)
    connection.execute(delete(flags).where(flags.c.answer_id.in_(of_worker)))
    connection.execute(delete(standings).where(standings.c.worker_id == worker_id))
