"""What a snapshot is computed from beside the answers: gold labels, times per page, full tasks, people and inputs per arm."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Integer, case, cast, func, select

from plurivox.core.soft_labels import SoftLabels
from plurivox.web.store.schema import answers, sittings, slots, tasks, visits, workers


@dataclass(frozen=True)
class ArmPeople:
    """How many people of an arm came, finished, and left before the end."""

    people: int = 0
    finished: int = 0
    left: int = 0


def gold_labels(connection: Connection, labels: Sequence[str]) -> SoftLabels | None:
    """The known labels of tasks; None where there are none. One that the study has lost since is not known any more."""
    known = select(tasks.c.name, tasks.c.gold).where(tasks.c.gold.in_(labels), tasks.c.practice == 0)
    rows = connection.execute(known).all()
    return SoftLabels.gold([row.name for row in rows], [row.gold for row in rows], labels=labels) if rows else None


def full_tasks(connection: Connection) -> dict[str, int]:
    """How many tasks of each stratum have all their answers, or soon will."""
    full = select(tasks.c.stratum, func.count()).where(tasks.c.practice == 0, tasks.c.given >= tasks.c.quota)
    return {row[0]: row[1] for row in connection.execute(full.group_by(tasks.c.stratum))}


def stage_seconds(connection: Connection) -> Iterator[tuple[str, float]]:
    """(stage, seconds) of every visit; where the page does not tell, from the end of the stage before to its end."""
    wanted = select(visits.c.worker_id, visits.c.stage, visits.c.at, visits.c.ms, workers.c.born)
    rows = wanted.join(workers, workers.c.id == visits.c.worker_id).order_by(visits.c.worker_id, visits.c.id)
    before: tuple[int, float] = (0, 0.0)
    for worker, stage, at, ms, born in connection.execute(rows):
        came = before[1] if before[0] == worker else born
        yield stage, at - came if ms is None else ms / 1000
        before = worker, at


# ---- arms


def arm_of_workers(connection: Connection) -> dict[str, str]:
    """pseudonym -> arm."""
    return {row.pseudonym: row.arm for row in connection.execute(select(workers.c.pseudonym, workers.c.arm))}


def people_by_arm(connection: Connection, before: float) -> dict[str, ArmPeople]:
    """arm -> its people; those have left who are not done and were last seen `before`."""
    last = select(func.max(answers.c.received)).where(answers.c.worker_id == workers.c.id).scalar_subquery()
    begun = select(func.max(sittings.c.begun)).where(sittings.c.worker_id == workers.c.id).scalar_subquery()
    quiet = (workers.c.seen < before) & (func.coalesce(last, 0) < before) & (func.coalesce(begun, 0) < before)
    done = workers.c.stage == "done"
    counts = select(workers.c.arm, func.count(), _sum(done), _sum(~done & quiet))
    rows = connection.execute(counts.where(workers.c.status == "active").group_by(workers.c.arm))
    return {arm: ArmPeople(n, finished, left) for arm, n, finished, left in rows}


def _sum(what: Any) -> Any:
    return func.coalesce(func.sum(case((what, 1), else_=0)), 0)


def inputs_by_arm(connection: Connection) -> dict[str, dict[int, int]]:
    """arm -> inputs of an answer -> how many answers; counted where they lie, since events are long."""
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
