"""Leases of sittings: slots that are not answered in time are given back, and taken up again if the answer comes late."""

from collections.abc import Sequence

from sqlalchemy import Connection, func, select, update

from plurivox.web.store import random_source
from plurivox.web.store.collect.arms import arm_has_room, update_arm_counts
from plurivox.web.store.collect.sittings import SITTING_COLUMNS, Sitting
from plurivox.web.store.collect.task_queue import (
    close_full_batches,
    count_slots_given,
    count_slots_returned,
    free_slot_numbers,
    reopen_batches,
)
from plurivox.web.store.collect.tasks import has_batches
from plurivox.web.store.database import now
from plurivox.web.store.key_value import kv_get
from plurivox.web.store.schema import plans, sittings, slots

MAX_OVERDUE_SITTINGS = 20  # sittings whose lease has ended, looked after at a time


def renew_lease(connection: Connection, sitting: int, lease_seconds: float) -> None:
    """Let a lease that has not ended meanwhile end later."""
    here = update(sittings).where(sittings.c.id == sitting, sittings.c.until.is_not(None))
    connection.execute(here.values(until=now() + lease_seconds))


def end_overdue_leases(connection: Connection) -> int:
    """Give back the slots of sittings whose lease has ended; how many sittings."""
    late = (
        select(sittings.c.id)
        .where(sittings.c.until < now())
        .limit(MAX_OVERDUE_SITTINGS)
        .with_for_update(skip_locked=True)
    )
    found = connection.execute(late).scalars().all()
    for sitting in found:
        end_lease(connection, sitting)
    return len(found)


def end_lease(connection: Connection, sitting: int) -> None:
    """Take back what a sitting has not answered; an answer that comes later is kept all the same."""
    ended = update(sittings).where(sittings.c.id == sitting).values(until=None).returning(sittings.c.plan_id)
    plan = connection.execute(ended).scalar()
    back = connection.execute(
        update(slots)
        .where(slots.c.sitting_id == sitting, slots.c.state == "leased")
        .values(state="expired", number=None)
        .returning(slots.c.task_id, slots.c.kind)
    ).all()
    if plan is not None and back:
        connection.execute(update(plans).where(plans.c.id == plan).values(given=plans.c.given - 1))
    return_slots(connection, [row.task_id for row in back if row.kind == "task"])


def return_slots(connection: Connection, ids: Sequence[int]) -> None:
    """These tasks have one slot more to give."""
    count_slots_returned(
        connection, [(task, random_source.rng.random()) for task in sorted(ids)], bool(kv_get(connection, "strata"))
    )
    if ids and has_batches(connection):
        reopen_batches(connection, ids)
    update_arm_counts(connection, ids)


def lease_again(connection: Connection, slot: int, task: int, kind: str) -> bool:
    """Lease an expired slot once more to whom it was; False where its task has become full meanwhile."""
    if kind != "task":  # it never counted
        connection.execute(update(slots).where(slots.c.id == slot).values(state="leased"))
        return True
    if not arm_has_room(connection, slot, task) or not count_slots_given(
        connection, [(task, random_source.rng.random())]
    ):
        return False
    number = free_slot_numbers(connection, [task])[task]
    connection.execute(update(slots).where(slots.c.id == slot).values(state="leased", number=number))
    update_arm_counts(connection, [task])
    if has_batches(connection):
        close_full_batches(connection, [task])
    return True


def resume_sitting(connection: Connection, sitting: Sitting, lease_seconds: float) -> Sitting:
    """Go on with a sitting whose lease had ended, with those of its tasks that are still open."""
    mine = slots.c.sitting_id == sitting.id
    expired = select(slots.c.id, slots.c.task_id, slots.c.kind).where(mine, slots.c.state == "expired")
    for slot, task, kind in connection.execute(expired).all():
        lease_again(connection, slot, task, kind)
    orphans = select(slots.c.id).where(mine, slots.c.state == "expired", slots.c.kind == "task")
    repeats = update(slots).where(mine, slots.c.state == "leased", slots.c.repeat_of.in_(orphans))
    connection.execute(repeats.values(state="expired"))
    if sitting.plan_id is not None:
        connection.execute(update(plans).where(plans.c.id == sitting.plan_id).values(given=plans.c.given + 1))
    left = connection.execute(select(func.count()).where(mine, slots.c.state == "leased")).scalar_one()
    values = {"total": sitting.done + left, "until": now() + lease_seconds if left else None}
    this = update(sittings).where(sittings.c.id == sitting.id).values(values)
    return Sitting.of(connection.execute(this.returning(*SITTING_COLUMNS)).one())
