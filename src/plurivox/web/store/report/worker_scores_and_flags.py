"""Scores of workers and flags of answers: write them with a snapshot, list them one page at a time."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Self

from sqlalchemy import Connection, Engine, case, delete, func, insert, select, tuple_

from plurivox.web.store.collect.workers import HAS_ANSWERED_TASKS, Stage, is_turned_away
from plurivox.web.store.database import WRITE_OPTIONS, batched
from plurivox.web.store.errors import InvalidCursor
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.store.report.result_snapshots import get_latest_or_default_result_snapshot
from plurivox.web.store.report.task_detail import ALL_ANSWERS
from plurivox.web.store.schema import answers, flags, slots, standings, workers

WorkerOrder = Literal[
    "worker", "doubts", "answers", "seconds", "flags", "seen", "agreement-with-rest", "repeat-consistency", "too-fast"
]
SCORE_COLUMNS = {
    name: standings.c[name.replace("-", "_")] for name in ("agreement-with-rest", "repeat-consistency", "too-fast")
}
ORDER_COLUMNS: dict[str, Any] = {"answers": standings.c.n, "seconds": standings.c.seconds, "flags": standings.c.flags}
ROWS_PER_TRANSACTION = 500  # takes some ten milliseconds
ORDER_COLUMNS |= {"seen": workers.c.seen, **SCORE_COLUMNS}
LAST = 1e9  # sort key of workers without a value; its repr contains only characters that a cursor may have
MIN_ANSWERS_TO_DOUBT = 5  # a worker with fewer answers is not called doubtful
MIN_REPEATS_TO_DOUBT = 2  # nor by fewer repeats
DOUBTFUL_SHARE_OF_MEDIAN = 2 / 3  # doubtful: agreement below this share of the median worker's
DOUBTFUL_REPEATS = (
    0.5  # doubtful: the same label on less than this share of repeats, as in the rule inconsistent-repeats
)
DOUBTFUL_TOO_FAST = 0.3  # doubtful: a larger share of answers is too fast


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
    repeat_consistency: float | None  # share of repeats with another label
    repeats: int  # of which `repeat_consistency` is the share: both answers name a label
    too_fast: float | None


@dataclass(frozen=True)
class WorkerLine:
    """A line of the list of workers: pseudonym, stage, status and scores."""

    worker: str
    stage: Stage
    status: Literal["active", "excluded", "erased"]
    turned_away: bool  # no task was left for them, so they are done without an answer
    answers: int  # with repeats and late ones, without practice and replaced ones; of excluded workers too
    median_seconds: float | None
    # agreement with the others, share of repeats with the same label, share of answers that were too fast
    scores: dict[str, float | None]
    repeats: int  # compared: both answers name a label
    doubts: list[str]  # the scores that are doubtful
    flags: int  # answers with a flag
    flag_counts: dict[str, int]  # flag -> answers
    last_seen: float


@dataclass(frozen=True)
class DoubtLimits:
    """From when on a worker's score is doubtful; `agreement_below` is None while no worker has enough answers."""

    answers: int  # a worker with fewer is not called doubtful
    repeats: int  # nor with fewer repeats by the share of equal ones
    agreement_median: float | None  # of the workers
    agreement_below: float | None
    same_on_repeats_below: float
    too_fast_above: float

    @classmethod
    def of_median_agreement(cls, median: float | None) -> Self:
        """Return the limits in a study whose median worker has this agreement with the others."""
        below = None if median is None else round(median * DOUBTFUL_SHARE_OF_MEDIAN, 5)
        counts = MIN_ANSWERS_TO_DOUBT, MIN_REPEATS_TO_DOUBT
        return cls(*counts, median, below, DOUBTFUL_REPEATS, DOUBTFUL_TOO_FAST)


@dataclass(frozen=True)
class WorkerPage:
    """One page of the list of workers, and from when on a score is doubtful."""

    workers: list[WorkerLine]
    limits: DoubtLimits
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

    The order "doubts" begins with the workers who have the most doubtful scores, then those who agree least with the others.
    `after` is the cursor of the page before; raise InvalidCursor if it is not valid.
    """
    done = select(func.count()).where(slots.c.worker_id == workers.c.id, slots.c.answer_id.is_not(None))
    done = done.where(slots.c.kind != "practice")
    limits = DoubtLimits.of_median_agreement(
        get_latest_or_default_result_snapshot(connection).agreement.median_of_workers
    )
    known = (standings.c.worker_id, standings.c.seconds, standings.c.flags, standings.c.seen.label("answered"))
    doubts = {f"doubts {name}": condition for name, condition in _doubt_conditions(limits).items()}
    query = select(workers, *known, *SCORE_COLUMNS.values(), done.scalar_subquery().label("done")).limit(limit + 1)
    query = query.add_columns(standings.c.repeats, HAS_ANSWERED_TASKS.label("has_answered"))
    query = query.add_columns(*(condition.label(name) for name, condition in doubts.items()))
    query = query.outerjoin(standings, standings.c.worker_id == workers.c.id)
    if prefix:
        query = query.where(workers.c.pseudonym.startswith(prefix, autoescape=True))
    key = ORDER_COLUMNS.get(order)
    if order == "doubts":
        n_doubts = sum((case((condition, 1.0), else_=0.0) for condition in doubts.values()), start=0.0 * standings.c.n)
        key = n_doubts + func.coalesce(standings.c.agreement_with_rest, 0.0) / 2
    if key is None:
        query = query.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym)
    else:
        down = func.coalesce(-key, LAST)  # workers without a value come last
        query = query.add_columns(down.label("down")).order_by(down, workers.c.id)
        if after:
            query = query.where(tuple_(down, workers.c.id) > _parse_cursor_to_sort_key_and_worker_id(after))
    rows = connection.execute(query).all()
    next_cursor = None
    if len(rows) > limit:
        last = rows[limit - 1]
        next_cursor = last.pseudonym if key is None else f"{last.down!r}_{encode_id(last.id)}"
    counts = _count_flags_by_worker(connection, [row.id for row in rows[:limit]])
    lines = [_worker_list_line_from_row(row, counts.get(row.id, {})) for row in rows[:limit]]
    return WorkerPage(lines, limits, next_cursor)


def _doubt_conditions(limits: DoubtLimits) -> dict[str, Any]:
    """Return score -> the SQL condition that it is doubtful."""
    enough = func.coalesce(standings.c.n, 0) >= limits.answers
    changed = func.coalesce(standings.c.repeat_consistency, 0.0)
    enough_repeats = func.coalesce(standings.c.repeats, 0) >= limits.repeats
    # while the median is unknown, no agreement is below the limit: 2 is more than any disagreement
    most_disagreement = 2.0 if limits.agreement_below is None else 1 - limits.agreement_below
    return {
        "agreement-with-rest": enough & (func.coalesce(standings.c.agreement_with_rest, 0.0) > most_disagreement),
        "repeat-consistency": enough & enough_repeats & (changed > 1 - limits.same_on_repeats_below),
        "too-fast": enough & (func.coalesce(standings.c.too_fast, 0.0) > limits.too_fast_above),
    }


def _count_flags_by_worker(connection: Connection, worker_ids: Sequence[int]) -> dict[int, Counter[str]]:
    """Return worker id -> how many of the worker's answers have each flag; workers without flags are left out."""
    of = select(answers.c.worker_id, flags.c.flags).join(flags, flags.c.answer_id == answers.c.id)
    counts: dict[int, Counter[str]] = {}
    for worker, names in connection.execute(of.where(answers.c.worker_id.in_(worker_ids))):
        counts.setdefault(worker, Counter()).update(json.loads(names))
    return counts


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


def _worker_list_line_from_row(row: Any, flag_counts: Mapping[str, int]) -> WorkerLine:
    """Convert a database row of a worker with scores, and the worker's flags, to a line of the list of workers."""
    has_scores = row.worker_id is not None
    return WorkerLine(
        worker=row.pseudonym,
        stage=row.stage,
        status=row.status,
        turned_away=row.status == "active" and is_turned_away(row.stage, row.has_answered),
        answers=row.done,
        median_seconds=row.seconds,
        scores=_published_scores_from_stored_badness(row) if has_scores else {},
        repeats=row.repeats or 0,
        doubts=[name for name in SCORE_COLUMNS if row._mapping[f"doubts {name}"]],
        flags=row.flags or 0,
        flag_counts=dict(flag_counts),
        last_seen=max(row.seen, row.answered or 0.0),
    )


def _published_scores_from_stored_badness(row: Any) -> dict[str, float | None]:
    """Return the scores of a worker as published, from the badness in a database row: agreement and consistency are 1 - it."""
    scores = {name: row._mapping[column] for name, column in SCORE_COLUMNS.items()}
    return {
        name: badness if badness is None or name == "too-fast" else round(1 - badness, 5)
        for name, badness in scores.items()
    }


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
