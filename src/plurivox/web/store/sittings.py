"""Sittings: which slots a person gets, in which order, and what becomes of those that are not answered in time.

A slot exists once it is leased. Open tasks stand in a queue: an index over (queue, slots given, random rank), so that
the next task is found as fast among a million tasks as among ten.
"""

import random
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Row, bindparam, case, exists, func, insert, null, select, update

from plurivox.web.keys import new_id
from plurivox.web.store.database import now
from plurivox.web.store.people import Worker, advance, fact
from plurivox.web.store.tables import media, plan_tasks, plans, sittings, slots, tasks
from plurivox.web.study import Study

OVERDUE = 20  # sittings looked after at a time
chance = random.SystemRandom()

LATEST = select(sittings).where(sittings.c.worker_id == bindparam("worker")).order_by(sittings.c.number.desc()).limit(1)
SEEN = exists().where(slots.c.task_id == tasks.c.id, slots.c.worker_id == bindparam("worker"))
OPEN = (
    select(tasks.c.id, tasks.c.given)
    .where(tasks.c.queue == bindparam("queue"), ~SEEN)
    .order_by(tasks.c.given, tasks.c.rank)
    .limit(bindparam("n"))
    .with_for_update(skip_locked=True, of=tasks)
)
GIVE = (
    update(tasks)
    .where(tasks.c.id == bindparam("task"), tasks.c.given < tasks.c.quota)
    .values(
        given=tasks.c.given + 1,
        rank=bindparam("at"),
        queue=case((tasks.c.given + 1 >= tasks.c.quota, null()), else_=tasks.c.queue),
    )
)
NEXT = (
    select(slots.c.id, slots.c.position, slots.c.kind, tasks.c.kind.label("task_kind"), tasks.c.text, tasks.c.text2)
    .add_columns(tasks.c.media_id, media.c.width, media.c.height)
    .select_from(slots.join(tasks, tasks.c.id == slots.c.task_id).outerjoin(media, media.c.id == tasks.c.media_id))
)
NEXT_OPEN = (
    NEXT.where(slots.c.sitting_id == bindparam("sitting"), slots.c.state == "leased")
    .order_by(slots.c.position)
    .limit(bindparam("n"))
)


def next_slots(connection: Connection, study: Study, worker: Worker, n: int) -> tuple[Worker, Any, Sequence[Row[Any]]]:
    """The person, the sitting and its next open slots; a new sitting begins where one is due, and the stage moves on
    where none is left."""
    sitting = connection.execute(LATEST, {"worker": worker.id}).first()
    practises = worker.stage == "practice"
    if _has_ended(sitting):
        sitting = connection.execute(LATEST.with_for_update(), {"worker": worker.id}).first()
        if _has_ended(sitting):  # still: no other server went on with it meanwhile
            sitting = _revive(connection, study, sitting)
    over = sitting is None or sitting.done >= sitting.total
    if over and practises and sitting is None:
        sitting = _practise(connection, study, worker)
    elif over and not practises:
        number = 0 if sitting is None else sitting.number
        begun = _begin(connection, study, worker, number + 1) if number < study.sittings else None
        if begun is None:
            return advance(connection, study, worker), sitting, []
        sitting = begun
    assert sitting is not None
    found = connection.execute(NEXT_OPEN, {"sitting": sitting.id, "n": n}).all()
    if not found:
        return advance(connection, study, worker), sitting, []
    if sitting.until - now() < study.lease_minutes * 45:  # three quarters of the lease, in seconds
        _renew(connection, study, sitting.id)
    return worker, sitting, found


def _has_ended(sitting: Any) -> bool:
    """Whether its lease ended before all was answered."""
    return sitting is not None and sitting.until is None and sitting.done < sitting.total


def _practise(connection: Connection, study: Study, worker: Worker) -> Any:
    ids = (fact(connection, "practice") or [])[: study.practice]
    return _sit_down(connection, study, worker, 0, [(task, None, "practice") for task in ids])


def _begin(connection: Connection, study: Study, worker: Worker, number: int) -> Any:
    """A new sitting with tasks that this person has not seen; None where there are none."""
    end_overdue(connection)
    if fact(connection, "plans"):
        plan, chosen = _from_plan(connection, worker)
    else:
        plan, chosen = None, _from_queues(connection, study, worker)
    if not chosen:
        return None
    numbers = _free_numbers(connection, chosen)
    connection.execute(GIVE, [{"task": task, "at": chance.random()} for task in chosen])
    places = _shuffled([(task, numbers[task], "task") for task in chosen], min(study.repeats, len(chosen)))
    return _sit_down(connection, study, worker, number, places, plan)


def _from_queues(connection: Connection, study: Study, worker: Worker) -> list[int]:
    """Open tasks of every queue, those with the fewest answers first, at random among them."""
    wanted = study.strata or {"": study.batch}
    found = []
    for queue, n in wanted.items():
        given = {"queue": queue, "worker": worker.id, "n": n}
        rows = connection.execute(OPEN, given).all()
        if len(rows) < n and connection.dialect.name != "sqlite":  # no more are open, or others look at them just now
            rows = connection.execute(OPEN.with_for_update(of=tasks), given).all()
        found += [row.id for row in rows]
    return found


def _from_plan(connection: Connection, worker: Worker) -> tuple[int | None, list[int]]:
    """The tasks of a fixed batch that are still open and new to this person."""
    mine = select(sittings.c.plan_id).where(sittings.c.worker_id == worker.id, sittings.c.plan_id.is_not(None))
    waiting = (
        select(plans.c.id)
        .where(plans.c.queue.is_not(None), plans.c.id.not_in(mine))
        .order_by(plans.c.given, plans.c.rank)
        .limit(1)
    )
    tried = plans.c.queue.is_not(None)
    while (plan := connection.execute(waiting.where(tried).with_for_update()).scalar()) is not None:
        inside = select(plan_tasks.c.task_id).where(plan_tasks.c.plan_id == plan)
        still = select(tasks.c.id).where(tasks.c.id.in_(inside), tasks.c.given < tasks.c.quota)
        found = connection.execute(still.where(~SEEN).with_for_update(of=tasks), {"worker": worker.id}).scalars().all()
        if found:
            connection.execute(update(plans).where(plans.c.id == plan).values(given=plans.c.given + 1))
            return plan, list(found)
        if connection.execute(still.limit(1)).first() is None:
            connection.execute(update(plans).where(plans.c.id == plan).values(queue=None))
        tried = tried & (plans.c.id != plan)
    return None, []


def _free_numbers(connection: Connection, chosen: Sequence[int]) -> dict[int, int]:
    """For each task the smallest number that no slot has."""
    taken: dict[int, set[int]] = {task: set() for task in chosen}
    rows = select(slots.c.task_id, slots.c.number).where(slots.c.task_id.in_(chosen), slots.c.number.is_not(None))
    for task, number in connection.execute(rows):
        taken[task].add(number)
    return {task: next(n for n in range(1, len(used) + 2) if n not in used) for task, used in taken.items()}


Place = tuple[int, int | None, str]  # task, number, kind


def _shuffled(places: list[Place], repeats: int) -> list[Place]:
    """In an order of this person's own; some tasks come again later, at random places and distances."""
    chance.shuffle(places)
    early = places[:-2] if len(places) - 2 >= repeats else places
    for task, _, _ in chance.sample(early, repeats):
        first = next(i for i, place in enumerate(places) if place[0] == task)
        places.insert(chance.randint(min(first + 2, len(places)), len(places)), (task, None, "repeat"))
    return places


def _sit_down(
    connection: Connection,
    study: Study,
    worker: Worker,
    number: int,
    places: Sequence[Place],
    plan: int | None = None,
) -> Any:
    time = now()
    row = {"worker_id": worker.id, "number": number, "plan_id": plan, "total": len(places), "done": 0}
    values = {**row, "begun": time, "until": time + study.lease_minutes * 60}
    sitting = connection.execute(insert(sittings).values(**values).returning(*sittings.c)).one()
    first: dict[int, int] = {}
    rows = []
    for position, (task, slot_number, kind) in enumerate(places, start=1):
        slot = new_id()
        rows.append(
            {"id": slot, "sitting_id": sitting.id, "worker_id": worker.id, "task_id": task, "number": slot_number}
            | {"kind": kind, "position": position, "repeat_of": first.get(task), "state": "leased"}
        )
        first.setdefault(task, slot)
    if rows:
        connection.execute(insert(slots), rows)
    return sitting


def _renew(connection: Connection, study: Study, sitting: int) -> None:
    until = now() + study.lease_minutes * 60
    here = update(sittings).where(sittings.c.id == sitting, sittings.c.until.is_not(None))  # or it has just ended
    connection.execute(here.values(until=until))


# ---- leases that end


def end_overdue(connection: Connection) -> int:
    """Give back the slots of sittings whose lease has ended; how many sittings."""
    late = select(sittings.c.id).where(sittings.c.until < now()).limit(OVERDUE).with_for_update(skip_locked=True)
    found = connection.execute(late).scalars().all()
    for sitting in found:
        end(connection, sitting)
    return len(found)


def end(connection: Connection, sitting: int) -> None:
    """Take back what a sitting has not answered; an answer that comes later is kept all the same."""
    ended = update(sittings).where(sittings.c.id == sitting).values(until=None).returning(sittings.c.plan_id)
    plan = connection.execute(ended).scalar()
    back = connection.execute(
        update(slots)
        .where(slots.c.sitting_id == sitting, slots.c.state == "leased")
        .values(state="expired", number=None)
        .returning(slots.c.task_id, slots.c.kind)
    ).all()
    give_back(connection, [row.task_id for row in back if row.kind == "task"])
    if plan is not None and back:
        connection.execute(update(plans).where(plans.c.id == plan).values(given=plans.c.given - 1, queue=""))


def give_back(connection: Connection, ids: Sequence[int]) -> None:
    """These tasks have one slot more to give."""
    strata = fact(connection, "strata")
    queue = tasks.c.stratum if strata else ""
    for task in ids:
        values: dict[str, Any] = {"given": tasks.c.given - 1, "queue": queue, "rank": chance.random()}
        connection.execute(update(tasks).where(tasks.c.id == task).values(values))


def retake(connection: Connection, slot: int, task: int) -> bool:
    """Lease an expired slot once more to whom it was; False where its task has become full meanwhile."""
    if not connection.execute(GIVE, {"task": task, "at": chance.random()}).rowcount:
        return False
    number = _free_numbers(connection, [task])[task]
    connection.execute(update(slots).where(slots.c.id == slot).values(state="leased", number=number))
    return True


def _revive(connection: Connection, study: Study, sitting: Any) -> Any:
    """Go on with a sitting whose lease had ended, with those of its tasks that are still open."""
    mine = slots.c.sitting_id == sitting.id
    for slot in connection.execute(select(slots).where(mine, slots.c.state == "expired")).all():
        if slot.kind == "task":
            retake(connection, slot.id, slot.task_id)
        else:
            connection.execute(update(slots).where(slots.c.id == slot.id).values(state="leased"))
    orphans = select(slots.c.id).where(mine, slots.c.state == "expired", slots.c.kind == "task")
    repeats = update(slots).where(mine, slots.c.state == "leased", slots.c.repeat_of.in_(orphans))
    connection.execute(repeats.values(state="expired"))
    left = connection.execute(select(func.count()).where(mine, slots.c.state == "leased")).scalar_one()
    until = now() + study.lease_minutes * 60 if left else None
    values = {"total": sitting.done + left, "until": until}
    connection.execute(update(sittings).where(sittings.c.id == sitting.id).values(values))
    return connection.execute(select(sittings).where(sittings.c.id == sitting.id)).one()
