"""Rows of the export: every answer, what was shown, how each worker was asked, how long each stage took."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, select

from plurivox.web.store.report.task_detail import ALL_ANSWERS
from plurivox.web.store.schema import media, tasks, visits, workers

Data = bytes


@dataclass(frozen=True)
class StageVisit:
    """A worker's visit to a stage of the study."""

    worker: str  # the pseudonym
    stage: str
    at: float
    ms: float | None
    detail: str  # JSON


@dataclass(frozen=True)
class TaskContent:
    """What a task shows, and what is known of it."""

    name: str
    kind: str  # image, audio, text, pair
    text: str | None
    text2: str | None
    stratum: str
    gold: str | None
    bytes: Data | None


def answer_rows(connection: Connection, at_once: int = 5_000) -> Iterator[Any]:
    """Every answer in the order they came, replaced ones and practice too."""
    yield from connection.execution_options(yield_per=at_once).execute(ALL_ANSWERS)


def stage_visits(connection: Connection) -> Iterator[StageVisit]:
    """Every visit, in the order in which they ended."""
    wanted = select(workers.c.pseudonym, visits.c.stage, visits.c.at, visits.c.ms, visits.c.detail)
    rows = connection.execute(wanted.join(workers, workers.c.id == visits.c.worker_id).order_by(visits.c.id))
    return (StageVisit(*row) for row in rows)


def worker_arms(connection: Connection) -> dict[str, str]:
    """pseudonym -> arm, "" where the study asked in one form; by pseudonym."""
    rows = connection.execute(select(workers.c.pseudonym, workers.c.arm).order_by(workers.c.pseudonym))
    return {row.pseudonym: row.arm for row in rows}


def task_contents(connection: Connection) -> Iterator[TaskContent]:
    """Every task, by name."""
    wanted = select(tasks.c.name, tasks.c.kind, tasks.c.text, tasks.c.text2, tasks.c.stratum, tasks.c.gold)
    rows = wanted.add_columns(media.c.bytes).outerjoin(media, media.c.id == tasks.c.media_id).order_by(tasks.c.name)
    return (TaskContent(*row) for row in connection.execute(rows))
