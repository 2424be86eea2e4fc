"""The queue of open tasks and fixed batches: select those of one worker by index, without sorting all tasks.

Open tasks are in one queue per stratum, or in a single queue: an index over (queue, slots given, random rank), and one over
(queue, expected gain, random rank) with the assigner next-best. Fixed batches have a separate queue.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Engine, bindparam, case, exists, func, literal, null, select, update

from plurivox.assign import GAIN_DECAY, UNASKED_GAIN
from plurivox.web.store.database import WRITE_OPTIONS, batched
from plurivox.web.store.report.statistics_classes_and_queries import StoppingSummary
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
BATCH_HAS_OPEN_TASK = exists().where(plan_tasks.c.plan_id == plans.c.id, TASK_IN_BATCH, BELOW_QUOTA).correlate(plans)
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
        gain=case((tasks.c.gain > 1, GAIN_DECAY), else_=tasks.c.gain * GAIN_DECAY),  # null stays null
    )
)
COUNT_SLOT_RELEASED = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"))
    .values(
        given=tasks.c.given - 1,
        rank=bindparam("at"),
        gain=case(
            (tasks.c.gain.is_(None), null()), (tasks.c.given <= 1, UNASKED_GAIN), else_=tasks.c.gain / GAIN_DECAY
        ),
    )
)
UPDATE_GAIN = (  # only if no slot was given since the gain was computed; else the next snapshot updates it
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.given == bindparam("known"), tasks.c.gain.is_not(None))
    .values(gain=bindparam("new"))
)
GAINS_PER_TRANSACTION = 500  # takes some ten milliseconds


@dataclass(frozen=True)
class OpenTask:
    """An open task: its id, the number of its slots given to workers, and the expected information gain of one more answer."""

    id: int
    given: int
    gain: float | None


class DatabasePool:
    """The open tasks of one worker in the database; an assigner chooses a sitting from this pool."""

    locked_table: Any = tasks
    below_quota: Any = BELOW_QUOTA

    def __init__(self, connection: Connection, worker: int, read_only: bool = False) -> None:
        self.connection = connection
        self.params: dict[str, Any] = {"worker": worker}
        self.read_only = read_only  # no slot will be given: no row is locked
        self.plan: int | None = None  # the fixed batch that was chosen

    def least_assigned_open_tasks(self, stratum: str | None, n: int) -> Sequence[int]:
        """Return the ids of at most `n` open tasks of a stratum (None: of all), those with the fewest slots given first."""
        return self._select_task_ids_locked_unless_read_only(FEWEST_GIVEN, {"queue": stratum or "", "n": n})

    def most_informative_open_tasks(self, n: int, min_gain: float) -> Sequence[int]:
        """Return at most `n` open task ids, highest expected information gain first, none below `min_gain` nats."""
        return self._select_task_ids_locked_unless_read_only(BY_GAIN, {"queue": "", "n": n, "least": min_gain})

    def _select_task_ids_locked_unless_read_only(self, statement: Any, params: dict[str, Any]) -> Sequence[int]:
        """Return the ids of open tasks that a statement selects, with their rows locked unless the pool is read-only."""
        params = {**params, **self.params}
        if self.read_only:
            return self.connection.execute(statement, params).scalars().all()
        unlocked = statement.with_for_update(skip_locked=True, of=self.locked_table)
        found = self.connection.execute(unlocked, params).scalars().all()
        if len(found) < params["n"] and self.connection.dialect.name != "sqlite":
            # no more are open, or other transactions have locked them: wait for these
            found = self.connection.execute(statement.with_for_update(of=self.locked_table), params).scalars().all()
        return found

    def open_tasks_of_least_assigned_batch(self) -> Sequence[int]:
        """Return the open tasks of the next fixed batch, preferably new to the worker; store its id in `self.plan`."""
        unseen = (
            exists()
            .where(plan_tasks.c.plan_id == plans.c.id, TASK_IN_BATCH, self.below_quota, ~ALREADY_ASSIGNED)
            .correlate(plans)
        )
        for which in (plans.c.id.not_in(BATCHES_OF_WORKER), plans.c.id.in_(BATCHES_OF_WORKER)):
            query, tried = NEXT_BATCH.where(unseen, which), list[int]()
            while (
                plan := self._select_first_batch_id_and_lock_unless_read_only(query.where(plans.c.id.not_in(tried)))
            ) is not None:
                tried.append(plan)
                in_plan = select(plan_tasks.c.task_id).where(plan_tasks.c.plan_id == plan)
                rest = (
                    select(tasks.c.id)
                    .where(tasks.c.id.in_(in_plan), self.below_quota, ~ALREADY_ASSIGNED)
                    .order_by(tasks.c.id)
                )
                found = self.connection.execute(self._add_for_update_unless_read_only(rest, tasks), self.params)
                if open_now := found.scalars().all():  # empty if another server gave them while this one waited
                    self.plan = plan
                    return open_now
        return []

    def _select_first_batch_id_and_lock_unless_read_only(self, statement: Any) -> int | None:
        """Return the id of the first fixed batch that a statement selects, locked unless read-only; None if there is none."""
        found: int | None = self.connection.execute(
            self._add_for_update_unless_read_only(statement, plans), self.params
        ).scalar()
        return found

    def _add_for_update_unless_read_only(self, statement: Any, locked_table: Any) -> Any:
        """Return an SQL statement with FOR UPDATE OF a table, or unchanged if the pool is read-only."""
        return statement if self.read_only else statement.with_for_update(of=locked_table)


def increment_slots_given_and_count_updated(
    connection: Connection, open_task_ids_and_new_ranks: Sequence[tuple[int, float]]
) -> int:
    """Increment the slots given of each task below its quota, and set its new rank; return the number of rows updated.

    That number is reliable for one task only.
    """
    n: int = connection.execute(
        COUNT_SLOT_GIVEN, [{"task": task, "at": rank} for task, rank in open_task_ids_and_new_ranks]
    ).rowcount
    return n


def smallest_free_slot_number_by_task_id(connection: Connection, task_ids: Sequence[int]) -> dict[int, int]:
    """Return task id -> the smallest slot number, from 1, that no slot of the task uses."""
    taken: dict[int, set[int]] = {task: set() for task in task_ids}
    rows = select(slots.c.task_id, slots.c.number).where(slots.c.task_id.in_(task_ids), slots.c.number.is_not(None))
    for task, number in connection.execute(rows):
        taken[task].add(number)
    return {task: next(n for n in range(1, len(used) + 2) if n not in used) for task, used in taken.items()}


def decrement_slots_given_and_requeue_tasks(
    connection: Connection, task_ids_and_new_ranks: Sequence[tuple[int, float]], queues_are_by_stratum: bool
) -> None:
    """Decrement the slots given of each task, set its new rank, and put it back into its queue if it is below its quota."""
    home = tasks.c.stratum if queues_are_by_stratum else literal("")
    queue = case((tasks.c.given - 1 < tasks.c.quota, home), else_=null())  # the quota may have been lowered since
    if task_ids_and_new_ranks:
        connection.execute(
            COUNT_SLOT_RELEASED.values(queue=queue),
            [{"task": task, "at": rank} for task, rank in task_ids_and_new_ranks],
        )


def remove_full_batches_of_tasks_from_queue(connection: Connection, task_ids: Sequence[int]) -> None:
    """Remove those fixed batches from the queue that contain one of these tasks and have no open task left.

    Their rows are locked first, so that slots released by other transactions are seen.
    """
    holders = select(plan_tasks.c.plan_id).where(plan_tasks.c.task_id.in_(task_ids))
    rows = select(plans.c.id).where(plans.c.id.in_(holders)).order_by(plans.c.id).with_for_update()
    ids = connection.execute(rows).scalars().all()
    connection.execute(update(plans).where(plans.c.id.in_(ids), ~BATCH_HAS_OPEN_TASK).values(queue=None))


def requeue_batches_containing_tasks(connection: Connection, task_ids: Sequence[int]) -> None:
    """Put every fixed batch that contains one of these tasks back into the queue."""
    holders = select(plan_tasks.c.plan_id).where(plan_tasks.c.task_id.in_(task_ids))
    connection.execute(update(plans).where(plans.c.id.in_(holders)).values(queue=""))


# ---- expected gains: the order of the queue with next-best


def list_open_tasks_given_at_least_once(connection: Connection) -> list[OpenTask]:
    """Return the open tasks with at least one slot given, with their expected gains; tasks queued by stratum are left out."""
    query = select(tasks.c.id, tasks.c.given, tasks.c.gain).where(tasks.c.queue == "", tasks.c.given > 0)
    return [OpenTask(*row) for row in connection.execute(query)]


def write_gains_unless_task_given_meanwhile(engine: Engine, open_tasks_with_new_gains: Iterable[OpenTask]) -> None:
    """Update the expected gain of each task in the database, except tasks whose number of slots given has changed meanwhile."""
    with engine.connect().execution_options(**WRITE_OPTIONS) as connection:
        for part in batched(open_tasks_with_new_gains, GAINS_PER_TRANSACTION):
            with connection.begin():
                connection.execute(UPDATE_GAIN, [{"task": one.id, "known": one.given, "new": one.gain} for one in part])


def count_tasks_below_gain_and_answers_saved(connection: Connection, min_gain: float) -> StoppingSummary:
    """Return the number of open tasks whose expected gain is below `min_gain` nats, and the answers saved by stopping."""
    query = select(func.count(), func.coalesce(func.sum(tasks.c.quota - tasks.c.given), 0))
    n, saved = connection.execute(query.where(tasks.c.queue == "", tasks.c.gain < min_gain)).one()
    return StoppingSummary(n, int(saved), min_gain)
