"""The next tasks of a worker: the open slots of the present sitting, or a new sitting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from plurivox.web.services.stages import WrongStage, advance, current_stage
from plurivox.web.store import draws
from plurivox.web.store.collect import sittings
from plurivox.web.store.collect.arms import pool_of
from plurivox.web.store.collect.leases import end_overdue, renew, revive
from plurivox.web.store.collect.sittings import Sitting, Slot, Waiting, answered_by, latest_sitting, waiting_of
from plurivox.web.store.collect.submissions import Draft, draft_of
from plurivox.web.store.collect.workers import Worker, go_to_end, turn_away, worker_of
from plurivox.web.store.study_state import must_be_open
from plurivox.web.study.assigner import load_assigner
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class NextTasks:
    """What a worker who has asked for tasks is to answer."""

    worker: Worker
    sitting: Sitting | None
    slots: Sequence[Slot] = ()  # the next open ones
    waiting: Waiting | None = None  # nothing is open, but others hold some
    draft: Draft | None = None


def next_tasks(connection: Connection, study: Study, worker: int, n: int) -> NextTasks:
    """The next slots of a worker's sitting, leased to the worker; the same ones again until they are answered."""
    person = worker_of(connection, worker)
    if person.stage not in ("practice", "tasks"):
        raise WrongStage(current_stage(connection, person))
    if person.status == "excluded":
        return NextTasks(go_to_end(connection, person), None)
    must_be_open(connection, study.texts.closed)
    found = _next_slots(connection, study, person, n)
    if person.stage == "practice" and found.worker.stage == "tasks":  # out of practice into the first sitting
        found = _next_slots(connection, study, found.worker, n)
    return replace(found, draft=draft_of(connection, worker))


def _next_slots(connection: Connection, study: Study, worker: Worker, n: int) -> NextTasks:
    """The next open slots of the present sitting. A new sitting begins where one is due; where no task is left to one
    who has answered, the stage moves on."""
    sitting = _present_sitting(connection, study, worker)
    if sitting is None and worker.stage == "practice":
        sitting = sittings.begin_practice(connection, worker.id, study.practice, study.lease_seconds)
    elif worker.stage != "practice" and (sitting is None or sitting.is_over):
        number = 0 if sitting is None else sitting.number
        done = number >= study.sittings and sittings.sittings_held(connection, worker.id) >= study.sittings
        begun = None if done else _begin_sitting(connection, study, worker, number + 1)
        if begun is None:
            return _nothing_open(connection, study, worker, sitting, done)
        sitting = begun
    assert sitting is not None
    found = sittings.open_slots(connection, sitting.id, n)
    if not found:
        return NextTasks(advance(connection, study, worker), sitting)
    if sitting.is_due(study.lease_seconds):
        renew(connection, sitting.id, study.lease_seconds)
    return NextTasks(worker, sitting, found)


def _present_sitting(connection: Connection, study: Study, worker: Worker) -> Sitting | None:
    """The latest sitting, taken up again if its lease had ended. Where a new one is due, the worker's row is locked: of
    two servers that are asked at once, one begins a sitting and the other goes on with it."""
    sitting = latest_sitting(connection, worker.id)
    if sitting is not None and sitting.has_expired:
        sitting = latest_sitting(connection, worker.id, lock=True)
        if sitting is not None and sitting.has_expired:  # still: no other server went on with it meanwhile
            sitting = revive(connection, sitting, study.lease_seconds)
    if sitting is None or sitting.is_over:
        sittings.lock_worker(connection, worker.id)
        sitting = latest_sitting(connection, worker.id)
    return sitting


def _begin_sitting(connection: Connection, study: Study, worker: Worker, number: int) -> Sitting | None:
    """A new sitting with tasks that this person has not seen; None where there are none."""
    end_overdue(connection)
    pool = pool_of(connection, worker, study.shares)
    chosen = load_assigner(connection, study).sit(pool, draws.rng) if pool else []
    if pool is None or not chosen:
        return None
    return sittings.begin_sitting(connection, worker.id, number, chosen, pool, study.lease_seconds)


def _nothing_open(
    connection: Connection, study: Study, worker: Worker, sitting: Sitting | None, done: bool
) -> NextTasks:
    """Wait for what others may not answer; else on to the next stage, or away where nothing was answered."""
    waiting = None if done else waiting_of(connection, worker)
    if waiting is not None:
        return NextTasks(worker, sitting, waiting=waiting)
    answered = done or answered_by(connection, worker.id)
    return NextTasks(advance(connection, study, worker) if answered else turn_away(connection, worker), sitting)
