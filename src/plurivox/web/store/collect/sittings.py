"""Sittings: the tasks that a person is asked in one go, each in a slot that is leased to that person.

Which tasks they are, and in which order, is chosen by an assigner. A slot exists once it is leased; a sitting has one lease
for all its slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection, bindparam, func, insert, select, update

from plurivox.assign import Place
from plurivox.web.store import random_source
from plurivox.web.store.collect.arms import ArmPool, update_arm_counts
from plurivox.web.store.collect.task_queue import (
    ALREADY_ASSIGNED,
    DatabasePool,
    close_full_batches,
    count_slots_given,
    free_slot_numbers,
)
from plurivox.web.store.collect.tasks import practice_task_ids
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.database import now
from plurivox.web.store.random_ids import new_id
from plurivox.web.store.schema import TaskKind, media, plans, sittings, slots, tasks, workers

RENEW_BELOW = 0.75  # a lease is renewed once less than this share of it is left
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 5.0, 30.0  # seconds until the page asks again
SITTING_COLUMNS = (
    sittings.c.id,
    sittings.c.number,
    sittings.c.plan_id,
    sittings.c.total,
    sittings.c.done,
    sittings.c.until,
)
LATEST_SITTING = (
    select(*SITTING_COLUMNS)
    .where(sittings.c.worker_id == bindparam("worker"))
    .order_by(sittings.c.number.desc())
    .limit(1)
)
TASK_COLUMNS = (
    tasks.c.kind.label("task_kind"),
    tasks.c.text,
    tasks.c.text2,
    tasks.c.media_id,
    media.c.width,
    media.c.height,
)
SLOTS_WITH_TASKS = select(slots.c.id, slots.c.position, slots.c.kind, *TASK_COLUMNS).select_from(
    slots.join(tasks, tasks.c.id == slots.c.task_id).outerjoin(media, media.c.id == tasks.c.media_id)
)
OPEN_SLOTS = (
    SLOTS_WITH_TASKS.where(slots.c.sitting_id == bindparam("sitting"), slots.c.state == "leased")
    .order_by(slots.c.position)
    .limit(bindparam("n"))
)
FIRST_LEASE_END = (  # when the first lease of a task ends that the person has not seen
    select(func.min(sittings.c.until))
    .select_from(sittings.join(slots, slots.c.sitting_id == sittings.c.id).join(tasks, tasks.c.id == slots.c.task_id))
    .join(workers, workers.c.id == slots.c.worker_id)
    .where(sittings.c.until > 0, slots.c.state == "leased", slots.c.kind == "task", ~ALREADY_ASSIGNED)
    .where(workers.c.arm == bindparam("arm"))  # the slots of other arms come back to others
)
TASKS_ANSWERED = select(func.coalesce(func.sum(sittings.c.done), 0)).where(sittings.c.number > 0)
SITTINGS_ANSWERED = select(func.count()).where(sittings.c.number > 0, sittings.c.done > 0)


@dataclass(frozen=True)
class Sitting:
    """The slots that a person answers in one go."""

    id: int
    number: int  # 1, 2, ...; 0: practice
    plan_id: int | None  # the fixed batch, where there are such
    total: int
    done: int
    until: float | None  # when the lease ends; None when all is done or it has ended

    @classmethod
    def of(cls, row: Any) -> Self:
        """The sitting of a row that has `SITTING_COLUMNS`, and perhaps others."""
        return cls(*(row._mapping[column] for column in SITTING_COLUMNS))

    @property
    def is_over(self) -> bool:
        """Whether all of it is answered."""
        return self.done >= self.total

    @property
    def has_expired(self) -> bool:
        """Whether its lease ended before all was answered."""
        return self.until is None and not self.is_over

    def is_due(self, lease_seconds: float) -> bool:
        """Whether its lease is to be renewed."""
        return self.until is not None and self.until - now() < RENEW_BELOW * lease_seconds


@dataclass(frozen=True)
class ShownTask:
    """What a task shows."""

    kind: TaskKind
    text: str | None
    text2: str | None
    media_id: int | None
    width: int | None
    height: int | None

    @classmethod
    def of(cls, row: Any) -> Self:
        """The content of a row that has the columns `TASK_COLUMNS`, and perhaps others."""
        return cls(*(row._mapping[column] for column in TASK_COLUMNS))


@dataclass(frozen=True)
class Slot:
    """One place in a sitting, with the task that is shown there."""

    id: int
    position: int
    kind: str  # task, repeat, practice
    shown: ShownTask

    @classmethod
    def of(cls, row: Any) -> Self:
        """The slot of a row of `SLOTS_WITH_TASKS`."""
        return cls(row.id, row.position, row.kind, ShownTask.of(row))


@dataclass(frozen=True)
class Waiting:
    """Nothing is open to a person now, but others hold tasks that may come back."""

    answered: int  # by this person: with none there is no completion code
    until: float  # when the first lease of others ends
    again: float  # seconds until it is worth asking again


def latest_sitting(connection: Connection, worker: int, *, lock: bool = False) -> Sitting | None:
    """A person's newest sitting; None before the first."""
    row = connection.execute(LATEST_SITTING.with_for_update() if lock else LATEST_SITTING, {"worker": worker}).first()
    return None if row is None else Sitting.of(row)


def lock_worker(connection: Connection, worker: int) -> None:
    """Wait until no other server begins a sitting for this person."""
    connection.execute(select(workers.c.id).where(workers.c.id == worker).with_for_update())


def open_slots(connection: Connection, sitting: int, n: int) -> list[Slot]:
    """The next slots of a sitting that are to be answered, at most `n`."""
    return [Slot.of(row) for row in connection.execute(OPEN_SLOTS, {"sitting": sitting, "n": n})] if n else []


def count_tasks_answered(connection: Connection, worker: int) -> int:
    """How many tasks a person has answered, repeats too; practice does not count."""
    n: int = connection.execute(TASKS_ANSWERED.where(sittings.c.worker_id == worker)).scalar_one()
    return n


def count_sittings(connection: Connection, worker: int) -> int:
    """How many sittings a person has had; one without an answer does not count."""
    n: int = connection.execute(SITTINGS_ANSWERED.where(sittings.c.worker_id == worker)).scalar_one()
    return n


def wait_for_lease(connection: Connection, worker: Worker) -> Waiting | None:
    """What a person to whom nothing is open may wait for; None where nothing can come back."""
    until = connection.execute(FIRST_LEASE_END, {"worker": worker.id, "arm": worker.arm}).scalar()
    if until is None:
        return None
    return Waiting(
        count_tasks_answered(connection, worker.id), until, min(max(until - now(), MIN_POLL_SECONDS), MAX_POLL_SECONDS)
    )


# ---- a sitting begins


def begin_practice_sitting(connection: Connection, worker: int, n: int, lease_seconds: float) -> Sitting:
    """A sitting of the first `n` practice tasks."""
    places = [(task, None, "practice") for task in practice_task_ids(connection)[:n]]
    return _insert_sitting(connection, worker, 0, places, lease_seconds)


def begin_sitting(
    connection: Connection, worker: int, number: int, chosen: Sequence[Place], pool: DatabasePool, lease_seconds: float
) -> Sitting:
    """A sitting of tasks that were chosen from a pool, which are now given to this person."""
    once = [place.task for place in chosen if not place.repeat]
    numbers = free_slot_numbers(connection, once)
    count_slots_given(connection, [(task, random_source.rng.random()) for task in once])
    if pool.plan is not None:
        connection.execute(update(plans).where(plans.c.id == pool.plan).values(given=plans.c.given + 1))
        close_full_batches(connection, once)
    rows = [(task, None, "repeat") if repeat else (task, numbers[task], "task") for task, repeat in chosen]
    sitting = _insert_sitting(connection, worker, number, rows, lease_seconds, pool.plan)
    if isinstance(pool, ArmPool):
        update_arm_counts(connection, once)
    return sitting


def _insert_sitting(
    connection: Connection,
    worker: int,
    number: int,
    places: Sequence[tuple[int, int | None, str]],  # task, number of the slot, kind
    lease_seconds: float,
    plan: int | None = None,
) -> Sitting:
    time = now()
    row = {"worker_id": worker, "number": number, "plan_id": plan, "total": len(places), "done": 0}
    values = {**row, "begun": time, "until": time + lease_seconds}
    sitting = Sitting.of(connection.execute(insert(sittings).values(**values).returning(*SITTING_COLUMNS)).one())
    first: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for position, (task, slot_number, kind) in enumerate(places, start=1):
        slot = new_id()
        rows.append(
            {"id": slot, "sitting_id": sitting.id, "worker_id": worker, "task_id": task, "number": slot_number}
            | {"kind": kind, "position": position, "repeat_of": first.get(task), "state": "leased"}
        )
        first.setdefault(task, slot)
    if rows:
        connection.execute(insert(slots), rows)
    return sitting
