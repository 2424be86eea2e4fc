"""Arms: a study with several forms assigns every worker to one of them, and fills the quota of each arm separately.

A new worker draws an arm without replacement from a block that contains every arm as often as its share, in the transaction
that adds the worker: arms never differ by more than a block. `per_task` counts per arm; a full arm is not drawn while
another one is open. The table `arm_tasks` has the quota and the slots given of each task per arm.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Text, bindparam, case, exists, func, insert, literal, null, select, update

from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.collect.task_queue import ALREADY_ASSIGNED, BELOW_QUOTA, BY_GAIN, DatabasePool
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.schema import arm_tasks, arms, plan_tasks, slots, tasks, workers

ARM_TASK = (arm_tasks.c.task_id == tasks.c.id) & (arm_tasks.c.arm == bindparam("arm"))
ARM_BELOW_QUOTA = arm_tasks.c.given < arm_tasks.c.quota
FEWEST_GIVEN_IN_ARM = (
    select(tasks.c.id)
    .select_from(arm_tasks.join(tasks, ARM_TASK))
    .where(arm_tasks.c.queue == bindparam("queue"), ~ALREADY_ASSIGNED)
    .order_by(arm_tasks.c.given, arm_tasks.c.rank)
    .limit(bindparam("n"))
)
SLOTS_IN_ARM = (  # number of slots of a task that count in an arm
    select(func.count())
    .select_from(slots.join(workers, workers.c.id == slots.c.worker_id))
    .where(slots.c.task_id == arm_tasks.c.task_id, slots.c.number.is_not(None), workers.c.arm == arm_tasks.c.arm)
    .correlate(arm_tasks)
    .scalar_subquery()
)
UPDATE_ARM_COUNTS = (
    update(arm_tasks).where(arm_tasks.c.task_id == bindparam("task")).values(given=SLOTS_IN_ARM, rank=bindparam("at"))
)
SLOTS_WITHOUT_ARM = (  # number of slots of workers who entered before the study had arms
    select(func.count())
    .select_from(slots.join(workers, workers.c.id == slots.c.worker_id))
    .where(slots.c.task_id == tasks.c.id, slots.c.number.is_not(None), workers.c.arm == "")
    .correlate(tasks)
    .scalar_subquery()
)


def draw_arm_without_replacement_from_block(connection: Connection, arm_copies_per_block: Mapping[str, int]) -> str:
    """Draw the arm of a new worker from a block with `arm_copies_per_block` copies of each arm; "" if the study has no arms."""
    if not arm_copies_per_block:
        return ""
    rows = connection.execute(select(arms.c.name, arms.c.left).order_by(arms.c.name).with_for_update())
    left = {row.name: row.left for row in rows}
    drawn = [name for name in arm_copies_per_block if _has_task_below_quota_in_arm(connection, name)] or list(
        arm_copies_per_block
    )
    if not any(left[name] for name in drawn):
        left |= arm_copies_per_block
    arm = unpredictable_random_generator.rng.choices(drawn, [left[name] for name in drawn])[0]
    left[arm] -= 1
    for name in arm_copies_per_block:
        connection.execute(update(arms).where(arms.c.name == name).values(left=left[name]))
    return arm


def _has_task_below_quota_in_arm(connection: Connection, arm: str) -> bool:
    """Return whether some task of an arm is below its quota."""
    open_task = select(arm_tasks.c.task_id).where(arm_tasks.c.arm == arm, arm_tasks.c.queue.is_not(None)).limit(1)
    return connection.execute(open_task).first() is not None


class ArmPool(DatabasePool):
    """The open tasks of one worker, limited to the worker's arm."""

    locked_table = arm_tasks
    below_quota = BELOW_QUOTA & exists().where(ARM_TASK, ARM_BELOW_QUOTA).correlate(tasks)

    def __init__(self, connection: Connection, worker: int, arm: str, read_only: bool = False) -> None:
        super().__init__(connection, worker, read_only)
        self.params = {"worker": worker, "arm": arm}

    def least_assigned_open_tasks(self, stratum: str | None, n: int) -> Sequence[int]:
        """Return at most `n` open task ids of a stratum (None: of all), those with the fewest slots given in the arm first."""
        return self._select_task_ids_locked_unless_read_only(FEWEST_GIVEN_IN_ARM, {"queue": stratum or "", "n": n})

    def most_informative_open_tasks(self, n: int, min_gain: float) -> Sequence[int]:
        """Return the ids of the arm's `n` open tasks with the highest expected gain, if it is at least `min_gain` nats."""
        return self._select_task_ids_locked_unless_read_only(
            BY_GAIN.where(ARM_TASK, ARM_BELOW_QUOTA), {"queue": "", "n": n, "least": min_gain}
        )


def get_pool_of_open_tasks_for_worker(
    connection: Connection, worker: Worker, arm_names: Collection[str], read_only: bool = False
) -> DatabasePool | None:
    """Return the pool of open tasks that a worker can be given; None if the worker's arm is no longer in the study."""
    if not arm_names:
        return DatabasePool(connection, worker.id, read_only)
    return ArmPool(connection, worker.id, worker.arm, read_only) if worker.arm in arm_names else None


def recount_slots_and_update_arm_queues(connection: Connection, task_ids: Sequence[int]) -> None:
    """Recount, per arm, how many slots of these tasks are given, and update the arms' queues; lock the rows first."""
    of_tasks = arm_tasks.c.task_id.in_(task_ids)
    locked = (
        select(arm_tasks.c.task_id).where(of_tasks).order_by(arm_tasks.c.task_id, arm_tasks.c.arm).with_for_update()
    )
    if not task_ids or connection.execute(locked).first() is None:
        return
    connection.execute(
        UPDATE_ARM_COUNTS, [{"task": task, "at": unpredictable_random_generator.rng.random()} for task in task_ids]
    )
    connection.execute(
        update(arm_tasks).where(of_tasks).values(queue=case((ARM_BELOW_QUOTA, arm_tasks.c.home), else_=null()))
    )


def lock_and_check_arm_quota_not_full(connection: Connection, slot_id: int, task_id: int) -> bool:
    """Return whether a task is below its quota in the arm of the slot's worker (True without arms), and lock that quota row."""
    arm = select(workers.c.arm).join(slots, slots.c.worker_id == workers.c.id).where(slots.c.id == slot_id)
    row = select(ARM_BELOW_QUOTA).where(arm_tasks.c.task_id == task_id, arm_tasks.c.arm == arm.scalar_subquery())
    found = connection.execute(row.with_for_update()).first()
    return found is None or bool(found[0])


def quota_of_all_arms_plus_slots_without_arm(n_arms: int, quota_per_arm: Any) -> Any:
    """Return a task's quota summed over arms plus its slots of workers without an arm, as a number or SQL expression."""
    return quota_per_arm * n_arms + SLOTS_WITHOUT_ARM if n_arms else quota_per_arm


def update_arms_quotas_and_queues_from_config(
    connection: Connection,
    arm_names: Sequence[str],
    answers_per_task: int,
    *,
    by_stratum: bool,
    uses_fixed_batches: bool,
) -> None:
    """Insert the arms that are new in study.toml, and update the quota and queue of every task in every arm."""
    known = set(connection.execute(select(arms.c.name)).scalars())
    if new := [{"name": name, "left": 0} for name in arm_names if name not in known]:
        connection.execute(insert(arms), new)
    fields = ("task_id", "arm", "quota", "given", "queue", "home", "rank")
    for name in arm_names:
        has_row = exists().where(arm_tasks.c.task_id == tasks.c.id, arm_tasks.c.arm == name)
        row: Any = (tasks.c.id, literal(name, Text), literal(0), literal(0), null(), literal("", Text), tasks.c.rank)
        connection.execute(insert(arm_tasks).from_select(fields, select(*row).where(tasks.c.practice == 0, ~has_row)))
    quota: Any = answers_per_task
    if uses_fixed_batches:
        quota *= select(func.count()).where(plan_tasks.c.task_id == arm_tasks.c.task_id).scalar_subquery()
    stratum = select(tasks.c.stratum).where(tasks.c.id == arm_tasks.c.task_id).scalar_subquery()
    in_study = arm_tasks.c.arm.in_(arm_names)
    connection.execute(update(arm_tasks).where(in_study).values(quota=quota, home=stratum if by_stratum else ""))
    queue = case((in_study & ARM_BELOW_QUOTA, arm_tasks.c.home), else_=null())
    connection.execute(update(arm_tasks).values(queue=queue))
