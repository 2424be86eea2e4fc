"""The pay sheet in the database: one line per worker; and the worker data that computing it needs."""

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import asdict, dataclass, field

import numpy as np
from sqlalchemy import Connection, bindparam, case, delete, func, insert, select, update

from plurivox.web.store.collect.workers import STAGES
from plurivox.web.store.database import batched
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.report.row_cache import RowCache
from plurivox.web.store.schema import pay, raw_ids, visits, workers

BATCH_ROWS = 1_000  # lines per statement
UPDATE_LINE = update(pay).where(pay.c.worker_id == bindparam("who")).values(line=bindparam("new"))


@dataclass(frozen=True)
class PayLine:
    """The pay of one worker, amounts as exact decimals, with the reasons."""

    worker: str
    answers: int
    active_minutes: str
    total_minutes: str
    matched: int
    compared: int  # answers to tasks that other workers have answered too
    base: str  # for participation and time
    bonus: str
    total: str
    reasons: list[str]
    # since 0.2; lines stored before have the defaults until the next round of the background job
    base_fixed: str = "0.00"  # part of the base: for taking part
    base_time: str = "0.00"  # part of the base: for time
    bonus_matches: str = "0.00"  # part of the bonus: per match
    bonus_time: str = "0.00"  # part of the bonus: per hour, times the share of matches
    paid_minutes: str = "0.00"  # active or total minutes, up to the limit
    claimed_minutes: str = "0.00"  # active minutes as the client claims them
    impossible_answers: int = 0  # answers with an impossible time, see `answer_times`
    impossible_pages: int = 0  # visits to other pages, likewise
    explanation: list[str] = field(default_factory=list)  # sentences: how the sums came about


@dataclass(frozen=True)
class PayPage:
    """One page of the pay sheet, with the totals of the whole sheet."""

    lines: list[PayLine]
    total: str
    people: int
    next: str | None


@dataclass(frozen=True)
class Person:
    """The pseudonym of a worker and when the worker entered."""

    pseudonym: str
    born: float  # when the worker entered


@dataclass(frozen=True)
class PlatformId:
    """The name of a crowdsourcing platform and the id of a worker there."""

    platform: str
    raw: str


def create_empty_cache_of_stage_visits() -> RowCache:
    """Return an empty in-memory cache for the visits of workers to stages, with their times; nothing is read yet.

    A stage is its place in `STAGES`. The stage of the tasks has no time of its own: the answers have.
    """
    ms = case((visits.c.stage.in_(("practice", "tasks")), None), else_=visits.c.ms)
    stage = case({name: place for place, name in enumerate(STAGES)}, value=visits.c.stage, else_=-1)
    types = {"id": np.int64, "worker": np.int64, "at": np.float64, "ms": np.float64, "stage": np.int32}
    return RowCache(select(visits.c.id, visits.c.worker_id, visits.c.at, ms, stage), types)


def pseudonym_and_entry_time_by_worker_id(connection: Connection, worker_ids: Iterable[int]) -> dict[int, Person]:
    """Return worker id -> pseudonym and time of entry into the study, for these workers."""
    found: dict[int, Person] = {}
    for part in batched(sorted(worker_ids), 500):
        who = select(workers.c.id, workers.c.pseudonym, workers.c.born).where(workers.c.id.in_(part))
        found |= {row.id: Person(row.pseudonym, row.born) for row in connection.execute(who)}
    return found


def upsert_pay_lines_and_save_total_and_writer(
    connection: Connection, pay_line_by_worker_id: Mapping[int, PayLine], sheet_total: str, writer_job_id: str
) -> None:
    """Insert or update the pay lines of these workers; save the total of the pay sheet and the id of the writing job."""
    for part in batched(pay_line_by_worker_id, BATCH_ROWS):
        old = {row.worker_id: row.line for row in connection.execute(select(pay).where(pay.c.worker_id.in_(part)))}
        new = {worker: json.dumps(asdict(pay_line_by_worker_id[worker])) for worker in part}
        changed = [{"who": worker, "new": line} for worker, line in new.items() if old.get(worker, line) != line]
        if changed:
            connection.execute(UPDATE_LINE, changed)
        if fresh := [{"worker_id": worker, "line": line} for worker, line in new.items() if worker not in old]:
            connection.execute(insert(pay), fresh)
    kv_set(connection, "pay", sheet_total)
    kv_set(connection, "pay by", writer_job_id)


def id_of_last_job_that_wrote_pay_sheet(connection: Connection) -> str:
    """Return the id of the server job that last wrote the pay sheet, to detect a change of leader; "" if none did."""
    return kv_get(connection, "pay by") or ""


def delete_pay_lines_except(connection: Connection, worker_ids: Container[int]) -> None:
    """Delete the pay lines of all workers except these ids."""
    gone = [worker for worker in connection.execute(select(pay.c.worker_id)).scalars() if worker not in worker_ids]
    for part in batched(gone, BATCH_ROWS):
        connection.execute(delete(pay).where(pay.c.worker_id.in_(part)))


def get_page_of_pay_sheet(connection: Connection, after: str | None, limit: int) -> PayPage:
    """Return one page of the pay sheet, sorted by pseudonym; `after` is the last pseudonym of the page before."""
    query = select(pay.c.line).join(workers, workers.c.id == pay.c.worker_id)
    query = query.where(workers.c.pseudonym > (after or "")).order_by(workers.c.pseudonym).limit(limit + 1)
    rows = connection.execute(query).scalars().all()
    lines = [PayLine(**json.loads(line)) for line in rows[:limit]]
    n = connection.execute(select(func.count()).select_from(pay)).scalar_one()
    total = (n and kv_get(connection, "pay")) or "0.00"  # all workers may have been erased
    return PayPage(lines, total, n, next=lines[-1].worker if len(rows) > limit else None)


def platform_name_and_id_by_worker_id(connection: Connection) -> dict[int, PlatformId]:
    """Return worker id -> platform (such as Prolific) and the worker's id there."""
    return {row.worker_id: PlatformId(row.platform, row.raw) for row in connection.execute(select(raw_ids))}
