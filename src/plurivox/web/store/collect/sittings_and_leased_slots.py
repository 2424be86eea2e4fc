"""Sittings: the batch of tasks that a worker answers in one go, each in a slot leased to that worker.

An assigner chooses the tasks and their order. A slot is inserted when it is leased; a sitting has one lease for all slots.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from sqlalchemy import Connection, bindparam, exists, func, insert, select, text, update

from plurivox.assign import AssignedTask
from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.collect.arms import ArmPool, recount_slots_and_update_arm_queues
from plurivox.web.store.collect.task_queue import (
    ALREADY_ASSIGNED,
    DatabasePool,
    increment_slots_given_and_count_updated,
    remove_full_batches_of_tasks_from_queue,
    smallest_free_slot_number_by_task_id,
)
from plurivox.web.store.collect.tasks_batches_quotas import practice_task_ids
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import LockHeldElsewhere
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.store.schema import TaskKind, media, plans, sittings, slots, tasks, workers

other_sittings = sittings.alias("other")
RENEW_BELOW = 0.75  # a lease is renewed if less than this share of it is left
BEGIN_LOCK = "7561001, hashtext(current_schema())"  # PostgreSQL's advisory lock of who begins a sitting
MIN_POLL_SECONDS, MAX_POLL_SECONDS = 5.0, 30.0  # until the page asks for tasks again
SITTING_COLUMNS = (
    sittings.c.id,
    sittings.c.number,
    sittings.c.plan_id,
    sittings.c.total,
    sittings.c.done,
    sittings.c.begun,
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
SLOTS_WITH_TASKS = select(slots.c.id, slots.c.position, slots.c.kind, slots.c.handed_out, *TASK_COLUMNS).select_from(
    slots.join(tasks, tasks.c.id == slots.c.task_id).outerjoin(media, media.c.id == tasks.c.media_id)
)
UNANSWERED_SLOTS = (
    SLOTS_WITH_TASKS.where(slots.c.sitting_id == bindparam("sitting"), slots.c.state == "leased")
    .order_by(slots.c.position)
    .limit(bindparam("n"))
)
HAND_OUT_SLOT = (
    update(slots)
    .where(slots.c.id == bindparam("slot"), slots.c.handed_out.is_(None))
    .values(handed_out=bindparam("now"))
)
FIRST_LEASE_END = (  # the earliest end of a lease of a task that was not yet assigned to the worker
    select(func.min(sittings.c.until))
    .select_from(sittings.join(slots, slots.c.sitting_id == sittings.c.id).join(tasks, tasks.c.id == slots.c.task_id))
    .join(workers, workers.c.id == slots.c.worker_id)
    .where(sittings.c.until > 0, slots.c.state == "leased", slots.c.kind == "task", ~ALREADY_ASSIGNED)
    .where(workers.c.arm == bindparam("arm"))  # slots of other arms return to workers of those arms
)
TASKS_ANSWERED = select(func.coalesce(func.sum(sittings.c.done), 0)).where(sittings.c.number > 0)
FIRST_SITTING_WITHOUT_ANSWER = (  # running sittings of people who have not answered any task yet, without overdue leases
    select(func.coalesce(func.sum(sittings.c.total), 0).label("slots"), func.min(sittings.c.until).label("until"))
    .select_from(sittings.join(workers, workers.c.id == sittings.c.worker_id))
    .where(sittings.c.until > bindparam("now"), sittings.c.number > 0, sittings.c.done == 0)
    .where(workers.c.arm == bindparam("arm"))
    .where(
        ~exists()
        .where(other_sittings.c.worker_id == sittings.c.worker_id)
        .where(other_sittings.c.number > 0, other_sittings.c.done > 0)
        .correlate(sittings)
    )
)
SITTINGS_ANSWERED = select(func.count()).where(sittings.c.number > 0, sittings.c.done > 0)


@dataclass(frozen=True)
class Sitting:
    """A batch of task slots leased to one worker, who answers them in one go; how many are answered, when the lease ends."""

    id: int
    number: int  # 1, 2, ...; 0: practice
    plan_id: int | None  # the fixed batch; None if the study has none
    total: int
    done: int
    begun: float
    until: float | None  # when the lease ends; None if everything is answered or the lease has ended

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Create a Sitting from a database row with the columns of the table `sittings`."""
        return cls(*(row._mapping[column] for column in SITTING_COLUMNS))

    @property
    def all_slots_answered(self) -> bool:
        """Whether all slots of the sitting are answered."""
        return self.done >= self.total

    @property
    def lease_ended_with_unanswered_slots(self) -> bool:
        """Whether the lease of a sitting ended before all its slots were answered."""
        return self.until is None and not self.all_slots_answered

    @property
    def is_lease_overdue(self) -> bool:
        """Whether the time of the lease is over, but its slots have not been released yet."""
        return self.until is not None and self.until < current_unix_time()

    @property
    def is_before_first_answer(self) -> bool:
        """Whether no task of the sitting is answered yet; practice does not count."""
        return self.number > 0 and not self.done

    def needs_lease_renewal(self, lease_seconds: float) -> bool:
        """Return whether a running lease of this duration has less than 75% of its time left and is to be renewed."""
        return self.until is not None and self.until - current_unix_time() < RENEW_BELOW * lease_seconds


@dataclass(frozen=True)
class ShownTask:
    """The content of a task as shown to workers: texts, or an image or sound."""

    kind: TaskKind
    text: str | None
    text2: str | None
    media_id: int | None
    width: int | None
    height: int | None

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Create a ShownTask, the content of a task as shown to workers, from a database row of task and media columns."""
        return cls(*(row._mapping[column] for column in TASK_COLUMNS))


@dataclass(frozen=True)
class Slot:
    """One place in a sitting (a worker's batch of tasks), with the task shown there."""

    id: int
    position: int
    kind: str  # task, repeat, practice
    shown: ShownTask

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Create a Slot (position in a sitting, with its task) from a database row of slot and task columns."""
        return cls(row.id, row.position, row.kind, ShownTask.from_row(row))


@dataclass(frozen=True)
class Waiting:
    """When a task may become open to a worker for whom none is open now: the end of the first lease, and when to retry."""

    answered: int  # tasks that this worker has answered; with none there is no completion code
    until: float  # when the first lease of another worker ends
    retry_seconds: float  # until the page asks again
    others_begin: bool = False  # there are open tasks, but too many are leased to people who have not answered yet


def get_latest_sitting(connection: Connection, worker: int, *, lock: bool = False) -> Sitting | None:
    """Return the newest sitting of a worker, with its row locked if `lock`; None if there is none."""
    row = connection.execute(LATEST_SITTING.with_for_update() if lock else LATEST_SITTING, {"worker": worker}).first()
    return None if row is None else Sitting.from_row(row)


def lock_worker_row(connection: Connection, worker: int) -> None:
    """Lock the row of a worker, so that no other server begins a sitting for the same worker."""
    connection.execute(select(workers.c.id).where(workers.c.id == worker).with_for_update())


def hand_out_first_unanswered_slots(connection: Connection, sitting_id: int, max_slots: int) -> list[Slot]:
    """Return the first `max_slots` unanswered slots of a sitting, in order of position, and record when each was first sent."""
    rows = connection.execute(UNANSWERED_SLOTS, {"sitting": sitting_id, "n": max_slots}).all() if max_slots else []
    now = current_unix_time()
    if new := [{"slot": row.id, "now": now} for row in rows if row.handed_out is None]:
        connection.execute(HAND_OUT_SLOT, new)
    return [Slot.from_row(row) for row in rows]


def count_answered_slots_without_practice(connection: Connection, worker: int) -> int:
    """Return how many task slots a worker has answered, including repeats, without practice."""
    n: int = connection.execute(TASKS_ANSWERED.where(sittings.c.worker_id == worker)).scalar_one()
    return n


def count_nonpractice_sittings_with_answer(connection: Connection, worker: int) -> int:
    """Return the number of sittings in which a worker has answered at least one task, without practice."""
    n: int = connection.execute(SITTINGS_ANSWERED.where(sittings.c.worker_id == worker)).scalar_one()
    return n


def find_wait_and_poll_times_for_next_task(connection: Connection, worker: Worker) -> Waiting | None:
    """Return when the next lease ends that may free a task for a worker without open tasks; None if there is no such lease."""
    until = connection.execute(FIRST_LEASE_END, {"worker": worker.id, "arm": worker.arm}).scalar()
    if until is None:
        return None
    return Waiting(
        count_answered_slots_without_practice(connection, worker.id),
        until,
        min(max(until - current_unix_time(), MIN_POLL_SECONDS), MAX_POLL_SECONDS),
    )


# ---- limit of leases before the first answer


@dataclass(frozen=True)
class UnansweredLeases:
    """Slots leased to people of an arm who have not answered any task yet, and when the first of these leases ends."""

    slots: int
    first_end: float | None


def lock_and_count_unanswered_leases(connection: Connection, arm: str) -> UnansweredLeases:
    """Return the slots leased to people of an arm without any answer; another server waits until this transaction ends.

    Raise LockHeldElsewhere if another server counts them: rows that this transaction has locked must not wait for the lock.
    """
    if connection.dialect.name != "sqlite":  # SQLite has one writer at a time
        is_locked = connection.execute(text(f"SELECT pg_try_advisory_xact_lock({BEGIN_LOCK})")).scalar_one()
        if not is_locked:
            raise LockHeldElsewhere(_wait_for_begin_lock)
    row = connection.execute(FIRST_SITTING_WITHOUT_ANSWER, {"arm": arm, "now": current_unix_time()}).one()
    return UnansweredLeases(int(row.slots), row.until)


def _wait_for_begin_lock(connection: Connection) -> None:
    """Wait until no other server counts or leases slots of people without any answer; the lock is held until the commit."""
    connection.execute(text(f"SELECT pg_advisory_xact_lock({BEGIN_LOCK})"))


def wait_for_people_who_begin(connection: Connection, worker: Worker, first_lease_end: float) -> Waiting:
    """Return how long a worker waits because too many tasks are leased to people who have not answered yet."""
    answered = count_answered_slots_without_practice(connection, worker.id)
    return Waiting(answered, first_lease_end, MIN_POLL_SECONDS, others_begin=True)


# ---- begin a sitting


def begin_practice_sitting(connection: Connection, worker: int, n_tasks: int, lease_seconds: float) -> Sitting:
    """Insert a sitting of the first `n_tasks` practice tasks, leased to a worker, and return it."""
    places = [(task, None, "practice") for task in practice_task_ids(connection)[:n_tasks]]
    return _insert_sitting_and_leased_slots(connection, worker, 0, places, lease_seconds)


def begin_sitting_and_count_slots_as_given(
    connection: Connection,
    worker: int,
    sitting_number: int,
    chosen_tasks: Sequence[AssignedTask],
    source_pool: DatabasePool,
    lease_seconds: float,
) -> Sitting:
    """Insert and return a sitting of the chosen tasks, leased to a worker; count the slots of these tasks as given."""
    new_tasks = [place.task for place in chosen_tasks if not place.repeat]
    numbers = smallest_free_slot_number_by_task_id(connection, new_tasks)
    increment_slots_given_and_count_updated(
        connection, [(task, unpredictable_random_generator.rng.random()) for task in new_tasks]
    )
    if source_pool.plan is not None:
        connection.execute(update(plans).where(plans.c.id == source_pool.plan).values(given=plans.c.given + 1))
        remove_full_batches_of_tasks_from_queue(connection, new_tasks)
    rows = [(task, None, "repeat") if repeat else (task, numbers[task], "task") for task, repeat in chosen_tasks]
    sitting = _insert_sitting_and_leased_slots(
        connection, worker, sitting_number, rows, lease_seconds, source_pool.plan
    )
    if isinstance(source_pool, ArmPool):
        recount_slots_and_update_arm_queues(connection, new_tasks)
    return sitting


def _insert_sitting_and_leased_slots(
    connection: Connection,
    worker: int,
    sitting_number: int,
    task_slots: Sequence[tuple[int, int | None, str]],  # task, number of the slot, kind
    lease_seconds: float,
    fixed_batch_id: int | None = None,
) -> Sitting:
    """Insert a sitting with its leased slots and return it; the second slot of a task refers to the first as its repeat."""
    time = current_unix_time()
    row = {
        "worker_id": worker,
        "number": sitting_number,
        "plan_id": fixed_batch_id,
        "total": len(task_slots),
        "done": 0,
    }
    values = {**row, "begun": time, "until": time + lease_seconds}
    sitting = Sitting.from_row(connection.execute(insert(sittings).values(**values).returning(*SITTING_COLUMNS)).one())
    first: dict[int, int] = {}
    rows: list[dict[str, Any]] = []
    for position, (task, slot_number, kind) in enumerate(task_slots, start=1):
        slot = random_62_bit_id()
        rows.append(
            {"id": slot, "sitting_id": sitting.id, "worker_id": worker, "task_id": task, "number": slot_number}
            | {"kind": kind, "position": position, "repeat_of": first.get(task), "state": "leased"}
        )
        first.setdefault(task, slot)
    if rows:
        connection.execute(insert(slots), rows)
    return sitting
