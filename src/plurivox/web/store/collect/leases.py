"""Leases of sittings: slots not answered in time are released to the queue, and leased again if the worker comes back."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select, update

from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.collect.arms import lock_and_check_arm_quota_not_full, recount_slots_and_update_arm_queues
from plurivox.web.store.collect.sittings_and_leased_slots import SITTING_COLUMNS, Sitting
from plurivox.web.store.collect.task_queue import (
    decrement_slots_given_and_requeue_tasks,
    increment_slots_given_and_count_updated,
    remove_full_batches_of_tasks_from_queue,
    requeue_batches_containing_tasks,
    smallest_free_slot_number_by_task_id,
)
from plurivox.web.store.collect.tasks_batches_quotas import has_batches
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.key_value import kv_get
from plurivox.web.store.schema import plans, sittings, slots

MAX_OVERDUE_SITTINGS = 20  # handled per call


def extend_lease_before_first_answer(
    connection: Connection, slot_id: int, seconds_from_now: float, seconds_after_begin: float
) -> None:
    """Extend the lease of a slot's sitting without any answer, but not beyond `seconds_after_begin` after it began."""
    sitting = select(slots.c.sitting_id).where(slots.c.id == slot_id).scalar_subquery()
    unanswered = (sittings.c.number > 0) & (sittings.c.done == 0) & (sittings.c.until > 0)
    row = connection.execute(select(*SITTING_COLUMNS).where(sittings.c.id == sitting, unanswered)).first()
    if row is None:
        return
    until = min(current_unix_time() + seconds_from_now, row.begun + seconds_after_begin)
    later = update(sittings).where(sittings.c.id == row.id, sittings.c.until < until, sittings.c.done == 0)
    connection.execute(later.values(until=until))


def end_some_overdue_leases_and_return_count(connection: Connection) -> int:
    """End overdue leases, of at most `MAX_OVERDUE_SITTINGS` sittings, and release their slots; return how many sittings."""
    overdue = (
        select(sittings.c.id)
        .where(sittings.c.until < current_unix_time())
        .limit(MAX_OVERDUE_SITTINGS)
        .with_for_update(skip_locked=True)
    )
    found = connection.execute(overdue).scalars().all()
    for sitting in found:
        end_lease_and_release_unanswered_slots(connection, sitting)
    return len(found)


def end_lease_and_release_unanswered_slots(connection: Connection, sitting_id: int) -> None:
    """End the lease of a sitting and release its unanswered slots; later answers are still accepted."""
    ended = update(sittings).where(sittings.c.id == sitting_id).values(until=None).returning(sittings.c.plan_id)
    plan = connection.execute(ended).scalar()
    expired = connection.execute(
        update(slots)
        .where(slots.c.sitting_id == sitting_id, slots.c.state == "leased")
        .values(state="expired", number=None)
        .returning(slots.c.task_id, slots.c.kind)
    ).all()
    if plan is not None and expired:
        connection.execute(update(plans).where(plans.c.id == plan).values(given=plans.c.given - 1))
    release_one_slot_and_requeue_each_task(connection, [row.task_id for row in expired if row.kind == "task"])


def release_one_slot_and_requeue_each_task(connection: Connection, task_ids: Sequence[int]) -> None:
    """Count one slot less as given for each of these tasks, and put the tasks and their fixed batches back into the queue."""
    decrement_slots_given_and_requeue_tasks(
        connection,
        [(task, unpredictable_random_generator.rng.random()) for task in sorted(task_ids)],
        bool(kv_get(connection, "strata")),
    )
    if task_ids and has_batches(connection):
        requeue_batches_containing_tasks(connection, task_ids)
    recount_slots_and_update_arm_queues(connection, task_ids)


def lease_expired_slot_again_unless_task_full(
    connection: Connection, slot_id: int, task_id: int, slot_kind: str
) -> bool:
    """Lease an expired slot again to the same worker; False if its task has become full in the meantime."""
    if slot_kind != "task":  # repeats and practice do not count
        connection.execute(update(slots).where(slots.c.id == slot_id).values(state="leased"))
        return True
    if not lock_and_check_arm_quota_not_full(
        connection, slot_id, task_id
    ) or not increment_slots_given_and_count_updated(
        connection, [(task_id, unpredictable_random_generator.rng.random())]
    ):
        return False
    number = smallest_free_slot_number_by_task_id(connection, [task_id])[task_id]
    connection.execute(update(slots).where(slots.c.id == slot_id).values(state="leased", number=number))
    recount_slots_and_update_arm_queues(connection, [task_id])
    if has_batches(connection):
        remove_full_batches_of_tasks_from_queue(connection, [task_id])
    return True


def lease_again_and_return_expired_sitting(connection: Connection, sitting: Sitting, lease_seconds: float) -> Sitting:
    """Lease an expired sitting again to its worker, without tasks that have become full; return the updated sitting."""
    in_sitting = slots.c.sitting_id == sitting.id
    expired = select(slots.c.id, slots.c.task_id, slots.c.kind).where(in_sitting, slots.c.state == "expired")
    for slot, task, kind in connection.execute(expired).all():
        lease_expired_slot_again_unless_task_full(connection, slot, task, kind)
    full = select(slots.c.id).where(in_sitting, slots.c.state == "expired", slots.c.kind == "task")
    repeats = update(slots).where(in_sitting, slots.c.state == "leased", slots.c.repeat_of.in_(full))
    connection.execute(repeats.values(state="expired"))
    if sitting.plan_id is not None:
        connection.execute(update(plans).where(plans.c.id == sitting.plan_id).values(given=plans.c.given + 1))
    left = connection.execute(select(func.count()).where(in_sitting, slots.c.state == "leased")).scalar_one()
    values = {"total": sitting.done + left, "until": current_unix_time() + lease_seconds if left else None}
    this = update(sittings).where(sittings.c.id == sitting.id).values(values)
    return Sitting.from_row(connection.execute(this.returning(*SITTING_COLUMNS)).one())
