"""Statistics of a study: the parts of a snapshot, and what they are computed from beside the answers."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from sqlalchemy import Connection, Integer, case, cast, func, select

from plurivox.core.soft_labels import SoftLabels
from plurivox.web.store.schema import answers, sittings, slots, tasks, visits, workers

Interval = tuple[float, float, float]  # a value and the ends of its 95% interval


@dataclass(frozen=True)
class Agreement:
    """How far people agree, with each other and with themselves."""

    scores: dict[str, float | None] = field(default_factory=dict)
    repeats: int = 0
    repeats_same_top: float | None = None  # share of repeats with the same top label
    by_hour: list[tuple[float, float, int]] = field(default_factory=list)  # hour, share with the top label, answers


@dataclass(frozen=True)
class Times:
    """Medians in seconds, and the learning curve."""

    first_input: float | None = None
    top_label: float | None = None
    active: float | None = None
    hidden: float | None = None
    by_position: list[tuple[int, float | None, int]] = field(default_factory=list)  # position, median, answers


@dataclass(frozen=True)
class StoppingSummary:
    """Tasks that next-best asks no more about: a further answer is expected to tell less than `least` nats."""

    tasks: int  # whose quota is not full
    spared: int  # answers that are not asked for
    least: float


@dataclass(frozen=True)
class ArmResult:
    """What the answers of one arm cost and what they are worth. Three numbers are a value and the ends of its 95% interval."""

    arm: str
    form: str
    wording: str
    people: int
    finished: int
    left: int  # neither done nor seen for as long as a lease lasts
    drop_out: Interval | None  # of those who finished or left
    answers: int
    seconds: Interval | None  # the median of active ones
    inputs: float | None  # keys, clicks and taps of an answer, at the median
    entropy: float | None  # of one answer, in nats
    agreement: float | None  # within the arm
    against: Literal["gold", "others"] | None  # what answers are held against
    tasks: int  # that can be held against it
    accuracy: float | None  # share of tasks whose most probable label is the reference's
    match: float | None  # mass that one answer has in common with the reference
    per_minute: float | None  # how much more than with references of other tasks, per minute of work
    curve: list[tuple[int, float | None, float | None]]  # answers per task, seconds per task, match of their mean


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


def count_full_tasks(connection: Connection) -> dict[str, int]:
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


def worker_arms(connection: Connection) -> dict[str, str]:
    """pseudonym -> arm."""
    return {row.pseudonym: row.arm for row in connection.execute(select(workers.c.pseudonym, workers.c.arm))}


def count_people_by_arm(connection: Connection, before: float) -> dict[str, ArmPeople]:
    """arm -> its people; those have left who are not done and were last seen `before`."""
    last = select(func.max(answers.c.received)).where(answers.c.worker_id == workers.c.id).scalar_subquery()
    begun = select(func.max(sittings.c.begun)).where(sittings.c.worker_id == workers.c.id).scalar_subquery()
    quiet = (workers.c.seen < before) & (func.coalesce(last, 0) < before) & (func.coalesce(begun, 0) < before)
    done = workers.c.stage == "done"
    counts = select(workers.c.arm, func.count(), _count_if(done), _count_if(~done & quiet))
    rows = connection.execute(counts.where(workers.c.status == "active").group_by(workers.c.arm))
    return {arm: ArmPeople(n, finished, left) for arm, n, finished, left in rows}


def _count_if(what: Any) -> Any:
    return func.coalesce(func.sum(case((what, 1), else_=0)), 0)


def count_inputs_by_arm(connection: Connection) -> dict[str, dict[int, int]]:
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
