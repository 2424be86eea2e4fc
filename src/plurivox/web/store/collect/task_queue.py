"""What is open to one worker, asked of the database by its indexes: no question ever sorts all tasks.

Open tasks stand in queues (by stratum, or in one): an index over (queue, slots given, random rank), and one over (queue,
expected gain, random rank) where the study asks for what tells most. Fixed batches stand in a queue of their own.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, case, exists, func, literal, null, select, update

from plurivox.assign import FALL, UNASKED
from plurivox.web.store.database import WRITE_OPTIONS, batched
from plurivox.web.store.report.statistics import StoppingSummary
from plurivox.web.store.schema import plan_tasks, plans, sittings, slots, tasks

slots_of_worker = slots.alias("own")
ALREADY_ASSIGNED = (
    exists()
    .where(slots_of_worker.c.task_id == tasks.c.id, slots_of_worker.c.worker_id == bindparam("worker"))
    .correlate(tasks)
)
BELOW_QUOTA = tasks.c.given < tasks.c.quota
OPEN_TASKS = select(tasks.c.id).where(tasks.c.queue == bindparam("queue"), ~ALREADY_ASSIGNED).limit(bindparam("n"))
FEWEST_GIVEN = OPEN_TASKS.order_by(tasks.c.given, tasks.c.rank)
BY_GAIN = OPEN_TASKS.where(tasks.c.gain >= bindparam("least")).order_by(tasks.c.gain.desc(), tasks.c.rank.desc())
TASK_IN_BATCH = plan_tasks.c.task_id == tasks.c.id
BATCH_HAS_OPEN_TASK = (
    exists().where(plan_tasks.c.plan_id == plans.c.id, TASK_IN_BATCH, BELOW_QUOTA).correlate(plans)
)  # some task of the batch is open
BATCHES_OF_WORKER = select(sittings.c.plan_id).where(
    sittings.c.worker_id == bindparam("worker"), sittings.c.plan_id.is_not(None)
)
NEXT_BATCH = select(plans.c.id).where(plans.c.queue == "").order_by(plans.c.given, plans.c.rank).limit(1)
COUNT_SLOT_GIVEN = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"), BELOW_QUOTA)
    .values(
        given=tasks.c.given + 1,
        rank=bindparam("at"),
        queue=case((tasks.c.given + 1 >= tasks.c.quota, null()), else_=tasks.c.queue),
        gain=case((tasks.c.gain > 1, FALL), else_=tasks.c.gain * FALL),  # null stays null
    )
)
COUNT_SLOT_RETURNED = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"))
    .values(
        given=tasks.c.given - 1,
        rank=bindparam("at"),
        gain=case((tasks.c.gain.is_(None), null()), (tasks.c.given <= 1, UNASKED), else_=tasks.c.gain / FALL),
    )
)
UPDATE_GAIN = (  # whoever was given a slot meanwhile has lowered it already: then the next snapshot tells
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.given == bindparam("known"), tasks.c.gain.is_not(None))
    .values(gain=bindparam("new"))
)
GAINS_PER_TRANSACTION = 500  # gains in one transaction: some ten milliseconds


@dataclass(frozen=True)
class OpenTask:
    """A task in the queue that somebody was asked about already."""

    id: int
    given: int
    gain: float | None


class DatabasePool:
    """What is open to one worker."""

    held: Any = tasks  # the table whose rows are locked
    wants: Any = BELOW_QUOTA
    most_telling = BY_GAIN

    def __init__(self, connection: Connection, worker: int, looks: bool = False) -> None:
        self.connection = connection
        self.given: dict[str, Any] = {"worker": worker}
        self.looks = looks  # nothing is to be given: no row is locked
        self.plan: int | None = None  # the fixed batch that was chosen

    def fewest(self, stratum: str | None, n: int) -> Sequence[int]:
        return self._open(FEWEST_GIVEN, {"queue": stratum or "", "n": n})

    def telling(self, n: int, least: float) -> Sequence[int]:
        return self._open(BY_GAIN, {"queue": "", "n": n, "least": least})

    def _open(self, statement: Any, given: dict[str, Any]) -> Sequence[int]:
        given = {**given, **self.given}
        if self.looks:
            return self.connection.execute(statement, given).scalars().all()
        free = statement.with_for_update(skip_locked=True, of=self.held)
        found = self.connection.execute(free, given).scalars().all()
        if len(found) < given["n"] and self.connection.dialect.name != "sqlite":
            # no more are open, or others look at them just now
            found = self.connection.execute(statement.with_for_update(of=self.held), given).scalars().all()
        return found

    def batch(self) -> Sequence[int]:
        """A batch that is new to this worker, else the rest of one that was open only in part when it came."""
        unseen = (
            exists()
            .where(plan_tasks.c.plan_id == plans.c.id, TASK_IN_BATCH, self.wants, ~ALREADY_ASSIGNED)
            .correlate(plans)
        )
        for which in (plans.c.id.not_in(BATCHES_OF_WORKER), plans.c.id.in_(BATCHES_OF_WORKER)):
            wanted, tried = NEXT_BATCH.where(unseen, which), list[int]()
            while (plan := self._first(wanted.where(plans.c.id.not_in(tried)))) is not None:
                tried.append(plan)
                held = select(plan_tasks.c.task_id).where(plan_tasks.c.plan_id == plan)
                rest = (
                    select(tasks.c.id).where(tasks.c.id.in_(held), self.wants, ~ALREADY_ASSIGNED).order_by(tasks.c.id)
                )
                found = self.connection.execute(self._locked(rest, tasks), self.given)
                if open_now := found.scalars().all():  # another server may have given them while we waited
                    self.plan = plan
                    return open_now
        return []

    def _first(self, statement: Any) -> int | None:
        found: int | None = self.connection.execute(self._locked(statement, plans), self.given).scalar()
        return found

    def _locked(self, statement: Any, of: Any) -> Any:
        return statement if self.looks else statement.with_for_update(of=of)


def count_slots_given(connection: Connection, chosen: Sequence[tuple[int, float]]) -> int:
    """One slot fewer of each (task, new rank); how many tasks had one, where one task is asked for."""
    n: int = connection.execute(COUNT_SLOT_GIVEN, [{"task": task, "at": rank} for task, rank in chosen]).rowcount
    return n


def free_slot_numbers(connection: Connection, chosen: Sequence[int]) -> dict[int, int]:
    """For each task the smallest number that no slot has."""
    taken: dict[int, set[int]] = {task: set() for task in chosen}
    rows = select(slots.c.task_id, slots.c.number).where(slots.c.task_id.in_(chosen), slots.c.number.is_not(None))
    for task, number in connection.execute(rows):
        taken[task].add(number)
    return {task: next(n for n in range(1, len(used) + 2) if n not in used) for task, used in taken.items()}


def count_slots_returned(connection: Connection, back: Sequence[tuple[int, float]], by_stratum: bool) -> None:
    """One slot more of each (task, new rank)."""
    home = tasks.c.stratum if by_stratum else literal("")
    queue = case((tasks.c.given - 1 < tasks.c.quota, home), else_=null())  # the quota may have been lowered meanwhile
    if back:
        connection.execute(COUNT_SLOT_RETURNED.values(queue=queue), [{"task": task, "at": rank} for task, rank in back])


def close_full_batches(connection: Connection, chosen: Sequence[int]) -> None:
    """Take batches out of the queue of which no task is open any more.

    They are locked first: what was given back meanwhile is then seen, since the next statement looks anew.
    """
    holders = select(plan_tasks.c.plan_id).where(plan_tasks.c.task_id.in_(chosen))
    rows = select(plans.c.id).where(plans.c.id.in_(holders)).order_by(plans.c.id).with_for_update()
    ids = connection.execute(rows).scalars().all()
    connection.execute(update(plans).where(plans.c.id.in_(ids), ~BATCH_HAS_OPEN_TASK).values(queue=None))


def reopen_batches(connection: Connection, tasks_back: Sequence[int]) -> None:
    """Put every batch that holds one of these tasks into the queue again."""
    holders = select(plan_tasks.c.plan_id).where(plan_tasks.c.task_id.in_(tasks_back))
    connection.execute(update(plans).where(plans.c.id.in_(holders)).values(queue=""))


# ---- gains: the order of the queue of next-best


def started_open_tasks(connection: Connection) -> list[OpenTask]:
    """The tasks of the queue that next-best orders."""
    wanted = select(tasks.c.id, tasks.c.given, tasks.c.gain).where(tasks.c.queue == "", tasks.c.given > 0)
    return [OpenTask(*row) for row in connection.execute(wanted)]


def update_gains(engine: Engine, changed: Iterable[OpenTask]) -> None:
    """Write new gains of tasks, except where a slot was given since `given` was read."""
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection:
        for part in batched(changed, GAINS_PER_TRANSACTION):
            with connection.begin():
                connection.execute(UPDATE_GAIN, [{"task": one.id, "known": one.given, "new": one.gain} for one in part])


def stopping_summary(connection: Connection, least: float) -> StoppingSummary:
    """How many tasks get no more answers although their quota is not full, and how many answers that saves."""
    wanted = select(func.count(), func.coalesce(func.sum(tasks.c.quota - tasks.c.given), 0))
    n, spared = connection.execute(wanted.where(tasks.c.queue == "", tasks.c.gain < least)).one()
    return StoppingSummary(n, int(spared), least)
