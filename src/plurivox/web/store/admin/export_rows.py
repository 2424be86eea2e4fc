"""Rows of the export: every answer, the content of tasks, the arm of each worker, visits to stages."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from plurivox.web.store.report.answer_times import active_times_of_visits
from plurivox.web.store.report.stored_soft_labels_and_task_list import (
    VALID_IN_NEWEST,
    LabelProbability,
    SoftLabel,
    label_probabilities_from_json,
    soft_label_intervals_from_json,
)
from plurivox.web.store.report.task_detail import ALL_ANSWERS
from plurivox.web.store.schema import media, soft_labels, tasks, visits, workers

Data = bytes


@dataclass(frozen=True)
class StageVisit:
    """A worker's visit to a stage of the study: when it ended and how long it took."""

    worker: str  # the pseudonym
    stage: str
    at: float
    ms: float | None
    detail: str  # JSON
    impossible_time: bool  # see `answer_times`


@dataclass(frozen=True)
class TaskContent:
    """The content of a task, its stratum and its correct label, if known."""

    name: str
    kind: str  # image, audio, text, pair
    text: str | None
    text2: str | None
    stratum: str
    gold: str | None
    practice: bool
    bytes: Data | None


def yield_all_answers_for_export(connection: Connection, rows_per_fetch: int = 5_000) -> Iterator[Any]:
    """Yield one row for every answer of the study in order of arrival, including replaced answers and practice."""
    yield from connection.execution_options(yield_per=rows_per_fetch).execute(ALL_ANSWERS)


def yield_arm_and_status_of_every_worker(connection: Connection) -> Iterator[tuple[str, str, str]]:
    """Yield (pseudonym, arm, status: active, excluded or erased) of every worker, sorted by pseudonym."""
    columns = (workers.c.pseudonym, workers.c.arm, workers.c.status)
    return (tuple(row) for row in connection.execute(select(*columns).order_by(workers.c.pseudonym)))


def yield_all_stage_visits(connection: Connection) -> Iterator[StageVisit]:
    """Yield every visit of a worker to a stage of the study, in the order in which the visits ended."""
    query = select(workers.c.pseudonym, visits.c.stage, visits.c.at, visits.c.ms, visits.c.detail)
    query = query.add_columns(visits.c.worker_id, workers.c.born)
    rows = connection.execute(query.join(workers, workers.c.id == visits.c.worker_id).order_by(visits.c.id)).all()
    ids, ms, at, born = (
        np.array([getattr(row, name) for row in rows], kind)
        for name, kind in (("worker_id", np.int64), ("ms", float), ("at", float), ("born", float))
    )
    impossible = active_times_of_visits(ids, ms, at, born).impossible.tolist()
    return (StageVisit(*row[:5], flag) for row, flag in zip(rows, impossible, strict=True))


def yield_soft_labels_of_every_task(
    connection: Connection,
) -> Iterator[tuple[str, list[LabelProbability], list[SoftLabel]]]:
    """Yield (name, truth, people) of every task with a soft label in the newest snapshot, sorted by name."""
    query = select(tasks.c.name, soft_labels.c.truth, soft_labels.c.soft)
    query = query.join(soft_labels, soft_labels.c.task_id == tasks.c.id).where(VALID_IN_NEWEST, soft_labels.c.n > 0)
    for row in connection.execute(query.order_by(tasks.c.name)):
        yield row.name, label_probabilities_from_json(row.truth), soft_label_intervals_from_json(row.soft)


def yield_content_of_every_task(connection: Connection) -> Iterator[TaskContent]:
    """Yield the content of every task, sorted by name."""
    query = select(tasks.c.name, tasks.c.kind, tasks.c.text, tasks.c.text2, tasks.c.stratum, tasks.c.gold)
    rows = (
        query.add_columns(tasks.c.practice == 1, media.c.bytes)
        .outerjoin(media, media.c.id == tasks.c.media_id)
        .order_by(tasks.c.name)
    )
    return (TaskContent(*row) for row in connection.execute(rows))
