"""Sittings: the slots that a person gets, and what becomes of those that are not answered in time.

Which tasks they are, and in which order, is chosen by a method of the room `assign`. A slot exists once it is leased.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from plurivox.web.store import draws
from plurivox.web.store.collect.arms import has_room, pool_of, recount
from plurivox.web.store.collect.availability import Waiting, answered_by, sittings_done, turn_away, waiting_of
from plurivox.web.store.collect.queue import close_plans, give, open_plans, take_back
from plurivox.web.store.collect.workers import Worker, advance
from plurivox.web.store.database import now
from plurivox.web.store.ids import new_id
from plurivox.web.store.kv import fact
from plurivox.web.store.schema import media, plans, sittings, slots, tasks, workers
from plurivox.web.study.assigner import assigner
from plurivox.web.study.config import Study

OVERDUE = 20  # sittings looked after at a time

LATEST = select(sittings).where(sittings.c.worker_id == bindparam("worker")).order_by(sittings.c.number.desc()).limit(1)
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


class Turn(NamedTuple):
    """Where a person stands who has asked for tasks."""

    worker: Worker
    sitting: Any
    slots: Sequence[Row[Any]]  # the next open ones
    waiting: Waiting | None = None  # nothing is open, but others hold some


def next_slots(connection: Connection, study: Study, worker: Worker, n: int) -> Turn:
    """The next open slots of the person's sitting; a new sitting begins where one is due, and the stage moves on where
    none is left to one who has answered."""
    sitting = connection.execute(LATEST, {"worker": worker.id}).first()
    practises = worker.stage == "practice"
    if _has_ended(sitting):
        sitting = connection.execute(LATEST.with_for_update(), {"worker": worker.id}).first()
        if _has_ended(sitting):  # still: no other server went on with it meanwhile
            sitting = _revive(connection, study, sitting)
    if _is_over(sitting):  # of two servers that are asked at once, one begins a sitting and the other goes on with it
        connection.execute(select(workers.c.id).where(workers.c.id == worker.id).with_for_update())
        sitting = connection.execute(LATEST, {"worker": worker.id}).first()
    over = _is_over(sitting)
    if over and practises and sitting is None:
        sitting = _practise(connection, study, worker)
    elif over and not practises:
        number = 0 if sitting is None else sitting.number
        done = sittings_done(connection, study, worker, number)
        begun = None if done else _begin(connection, study, worker, number + 1)
        if begun is None:
            return _nothing_open(connection, study, worker, sitting, done)
        sitting = begun
    assert sitting is not None
    found = connection.execute(NEXT_OPEN, {"sitting": sitting.id, "n": n}).all()
    if not found:
        return Turn(advance(connection, study, worker), sitting, [])
    if sitting.until - now() < study.lease_minutes * 45:  # three quarters of the lease, in seconds
        _renew(connection, study, sitting.id)
    return Turn(worker, sitting, found)


def _nothing_open(connection: Connection, study: Study, worker: Worker, sitting: Any, done: bool) -> Turn:
    """Wait for what others may not answer; else on to the next stage, or away where nothing was answered."""
    waiting = None if done else waiting_of(connection, worker)
    if waiting is not None:
        return Turn(worker, sitting, [], waiting)
    answered = done or answered_by(connection, worker.id)
    return Turn(advance(connection, study, worker) if answered else turn_away(connection, worker), sitting, [])


def _is_over(sitting: Any) -> bool:
    """Whether a new one is due: there is none, or all of it is answered."""
    return sitting is None or sitting.done >= sitting.total


def _has_ended(sitting: Any) -> bool:
    """Whether its lease ended before all was answered."""
    return sitting is not None and sitting.until is None and sitting.done < sitting.total


def _practise(connection: Connection, study: Study, worker: Worker) -> Any:
    ids = (fact(connection, "practice") or [])[: study.practice]
    return _sit_down(connection, study, worker, 0, [(task, None, "practice") for task in ids])


def _begin(connection: Connection, study: Study, worker: Worker, number: int) -> Any:
    """A new sitting with tasks that this person has not seen; None where there are none."""
    end_overdue(connection)
    pool = pool_of(connection, study, worker)
    chosen = assigner(connection, study).sit(pool, draws.rng) if pool else []
    if pool is None or not chosen:
        return None
    once = [place.task for place in chosen if not place.repeat]
    numbers = _free_numbers(connection, once)
    give(connection, [(task, draws.rng.random()) for task in once])
    if pool.plan is not None:
        connection.execute(update(plans).where(plans.c.id == pool.plan).values(given=plans.c.given + 1))
        close_plans(connection, once)
    places: list[Place] = [
        (task, None, "repeat") if repeat else (task, numbers[task], "task") for task, repeat in chosen
    ]
    sitting = _sit_down(connection, study, worker, number, places, pool.plan)
    if study.arms:
        recount(connection, once)
    return sitting


def _free_numbers(connection: Connection, chosen: Sequence[int]) -> dict[int, int]:
    """For each task the smallest number that no slot has."""
    taken: dict[int, set[int]] = {task: set() for task in chosen}
    rows = select(slots.c.task_id, slots.c.number).where(slots.c.task_id.in_(chosen), slots.c.number.is_not(None))
    for task, number in connection.execute(rows):
        taken[task].add(number)
    return {task: next(n for n in range(1, len(used) + 2) if n not in used) for task, used in taken.items()}


Place = tuple[int, int | None, str]  # task, number, kind


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
    if plan is not None and back:
        connection.execute(update(plans).where(plans.c.id == plan).values(given=plans.c.given - 1))
    give_back(connection, [row.task_id for row in back if row.kind == "task"])


def give_back(connection: Connection, ids: Sequence[int]) -> None:
    """These tasks have one slot more to give."""
    take_back(connection, [(task, draws.rng.random()) for task in sorted(ids)], bool(fact(connection, "strata")))
    if ids and fact(connection, "plans"):
        open_plans(connection, ids)
    recount(connection, ids)


def retake(connection: Connection, slot: int, task: int) -> bool:
    """Lease an expired slot once more to whom it was; False where its task has become full meanwhile."""
    if not has_room(connection, slot, task) or not give(connection, [(task, draws.rng.random())]):
        return False
    number = _free_numbers(connection, [task])[task]
    connection.execute(update(slots).where(slots.c.id == slot).values(state="leased", number=number))
    recount(connection, [task])
    if fact(connection, "plans"):
        close_plans(connection, [task])
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
    if sitting.plan_id is not None:
        connection.execute(update(plans).where(plans.c.id == sitting.plan_id).values(given=plans.c.given + 1))
    left = connection.execute(select(func.count()).where(mine, slots.c.state == "leased")).scalar_one()
    until = now() + study.lease_minutes * 60 if left else None
    values = {"total": sitting.done + left, "until": until}
    connection.execute(update(sittings).where(sittings.c.id == sitting.id).values(values))
    return connection.execute(select(sittings).where(sittings.c.id == sitting.id)).one()
