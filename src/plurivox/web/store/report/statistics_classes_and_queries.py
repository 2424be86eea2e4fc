"""Statistics in a snapshot as dataclasses (agreement, times, arms), and queries for their input besides the answers."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection, Integer, case, cast, func, select

from plurivox.core.soft_labels import SoftLabels
from plurivox.web.store.collect.workers import HAS_ANSWERED_TASKS
from plurivox.web.store.report.answer_times import active_times_of_visits
from plurivox.web.store.schema import answers, sittings, slots, tasks, visits, workers

Interval = tuple[float, float, float]  # a value and the ends of its 95% interval


@dataclass(frozen=True)
class Agreement:
    """Statistics of agreement: among workers, with the soft labels by hour, and of workers with themselves on repeats."""

    scores: dict[str, float | None] = field(default_factory=dict)
    repeats: int = 0  # left out of the agreement among workers
    repeats_same_top: float | None = None  # share of repeats with the same top label
    by_hour: list[tuple[float, float, int]] = field(default_factory=list)  # hour, share with the top label, answers
    median_of_workers: float | None = None  # median over workers of their agreement with the others
    repeats_compared: int = 0  # of which `repeats_same_top` is the share: both answers name a label


@dataclass(frozen=True)
class Times:
    """Median times per answer in seconds, overall and by position in the worker's batch of tasks."""

    first_input: float | None = None
    top_label: float | None = None
    active: float | None = None
    hidden: float | None = None
    by_position: list[tuple[int, float | None, int]] = field(default_factory=list)  # position, median, answers
    impossible: int = 0  # answers left out, as their times are impossible


@dataclass(frozen=True)
class StoppingSummary:
    """Number of tasks that next-best stops below their quota, as their expected gain is below `least` nats; answers saved."""

    tasks: int  # stopped before their quota
    spared: int  # answers that are not collected
    least: float


@dataclass(frozen=True)
class ArmResult:
    """Cost and accuracy of the answers in one arm of a study. An `Interval` is a value with its 95% interval."""

    arm: str
    form: str
    wording: str
    people: int
    finished: int
    left: int  # not finished, and not seen for the length of a lease
    drop_out: Interval | None  # share of those who left among those who finished or left
    answers: int
    seconds: Interval | None  # median active time of an answer
    inputs: float | None  # median number of keys, clicks and taps per answer
    entropy: float | None  # mean entropy of an answer, in nats
    agreement: float | None  # within the arm
    against: Literal["gold", "others"] | None  # the reference that answers are compared with
    tasks: int  # tasks with a reference
    accuracy: float | None  # share of tasks whose most probable label is the reference's
    match: float | None  # probability mass shared by one answer and the reference
    per_minute: float | None  # match above chance, per minute of work
    curve: list[tuple[int, float | None, float | None]]  # answers per task, seconds per task, match of their mean


@dataclass(frozen=True)
class ArmPeople:
    """How many people of an arm entered, finished, and left before the end."""

    people: int = 0
    finished: int = 0
    left: int = 0


def gold_labels_of_tasks_as_soft_labels(
    connection: Connection, allowed_labels: Sequence[str], format_task_or_label_name: Callable[[str], str] = str
) -> SoftLabels | None:
    """Return the gold labels of the tasks that have one among `allowed_labels`; None if there are none."""
    known = select(tasks.c.name, tasks.c.gold).where(tasks.c.gold.in_(allowed_labels), tasks.c.practice == 0)
    rows = connection.execute(known).all()
    names, gold = ([format_task_or_label_name(row[column]) for row in rows] for column in (0, 1))
    labels = [format_task_or_label_name(label) for label in allowed_labels]
    return SoftLabels.gold(names, gold, labels=labels) if rows else None


def count_tasks_without_free_slot_by_stratum(connection: Connection) -> dict[str, int]:
    """Return stratum -> number of tasks whose quota is filled, counting slots leased but not answered yet."""
    full = select(tasks.c.stratum, func.count()).where(tasks.c.practice == 0, tasks.c.given >= tasks.c.quota)
    return {row[0]: row[1] for row in connection.execute(full.group_by(tasks.c.stratum))}


def yield_stage_and_seconds_of_each_visit(connection: Connection) -> Iterator[tuple[str, float]]:
    """Yield (stage, seconds) for every visit to a stage, without excluded workers.

    Unsent times are computed from the visit before; visits with a time that is longer than the server saw are left out.
    """
    query = select(visits.c.worker_id, visits.c.stage, visits.c.at, visits.c.ms, workers.c.born)
    query = query.join(workers, workers.c.id == visits.c.worker_id).where(workers.c.status == "active")
    rows = connection.execute(query.order_by(visits.c.id)).all()
    worker_ids, stages, at, ms, born = zip(*rows, strict=True) if rows else ((),) * 5
    times = active_times_of_visits(
        np.array(worker_ids, np.int64), np.array(ms, float), np.array(at, float), np.array(born, float)
    )
    seconds = np.where(np.isnan(times.claimed_ms), times.end - times.start, times.believable_seconds)
    yield from ((stage, one) for stage, one in zip(stages, seconds.tolist(), strict=True) if one == one)


# ---- arms


def count_all_finished_and_dropped_workers_by_arm(
    connection: Connection, inactive_since: float
) -> dict[str, ArmPeople]:
    """Return arm -> numbers of active workers: all, finished, and dropped out (unfinished and not seen since a time).

    People for whom no task was left have not finished: they are only in the number of all.
    """
    last = select(func.max(answers.c.received)).where(answers.c.worker_id == workers.c.id).scalar_subquery()
    begun = select(func.max(sittings.c.begun)).where(sittings.c.worker_id == workers.c.id).scalar_subquery()
    quiet = (
        (workers.c.seen < inactive_since)
        & (func.coalesce(last, 0) < inactive_since)
        & (func.coalesce(begun, 0) < inactive_since)
    )
    done = workers.c.stage == "done"
    counts = select(workers.c.arm, func.count(), _sql_count_if(done & HAS_ANSWERED_TASKS), _sql_count_if(~done & quiet))
    rows = connection.execute(counts.where(workers.c.status == "active").group_by(workers.c.arm))
    return {arm: ArmPeople(n, finished, left) for arm, n, finished, left in rows}


def _sql_count_if(condition: Any) -> Any:
    """Return the SQL expression that counts the rows for which a condition is true."""
    return func.coalesce(func.sum(case((condition, 1), else_=0)), 0)


def count_answers_by_arm_and_number_of_inputs(connection: Connection) -> dict[str, dict[int, int]]:
    """Return arm -> {inputs (key presses, clicks) per answer -> number of answers with so many inputs}."""
    n = cast((func.length(answers.c.events) - func.length(func.replace(answers.c.events, '"seq"', ""))) / 5, Integer)
    counts = (
        select(workers.c.arm, n.label("n"), func.count())
        .select_from(answers.join(slots, slots.c.answer_id == answers.c.id))
        .join(workers, workers.c.id == answers.c.worker_id)
        .where(slots.c.kind == "task", slots.c.state != "excluded", answers.c.events != "[]")
        .group_by(workers.c.arm, "n")
    )
    found: dict[str, dict[int, int]] = {}
    for arm, inputs, times in connection.execute(counts):
        found.setdefault(arm, {})[inputs] = times
    return found
