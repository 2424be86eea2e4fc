"""Who has come and finds nothing open: to wait for slots that others may not answer, or to hear that the study is full."""

from dataclasses import replace
from typing import NamedTuple

from sqlalchemy import Connection, bindparam, func, select, update

from plurivox.web.store.collect.arms import pool_of
from plurivox.web.store.collect.queue import SEEN
from plurivox.web.store.collect.workers import Worker, note
from plurivox.web.store.database import now
from plurivox.web.store.schema import sittings, slots, tasks, workers
from plurivox.web.store.study_state import state_of
from plurivox.web.study.assigner import assigner
from plurivox.web.study.config import Study

SOONEST, LATEST = 5.0, 30.0  # seconds until the page asks again
BACK = (  # when the first lease of a task ends that the person has not seen
    select(func.min(sittings.c.until))
    .select_from(sittings.join(slots, slots.c.sitting_id == sittings.c.id).join(tasks, tasks.c.id == slots.c.task_id))
    .join(workers, workers.c.id == slots.c.worker_id)
    .where(sittings.c.until > 0, slots.c.state == "leased", slots.c.kind == "task", ~SEEN)
    .where(workers.c.arm == bindparam("arm"))  # the slots of other arms come back to others
)
ANSWERED = select(func.coalesce(func.sum(sittings.c.done), 0)).where(sittings.c.number > 0)
HELD = select(func.count()).where(sittings.c.number > 0, sittings.c.done > 0)


class Waiting(NamedTuple):
    """Nothing is open to a person now, but others hold tasks that may come back."""

    answered: int  # by this person: with none there is no completion code
    until: float  # when the first lease of others ends
    again: float  # seconds until it is worth asking again


def waiting_of(connection: Connection, worker: Worker) -> Waiting | None:
    """Whether a person to whom nothing is open may hope for something."""
    until = connection.execute(BACK, {"worker": worker.id, "arm": worker.arm}).scalar()
    if until is None:
        return None
    return Waiting(answered_by(connection, worker.id), until, min(max(until - now(), SOONEST), LATEST))


def answered_by(connection: Connection, worker: int) -> int:
    """How many tasks a person has answered, repeats too; practice does not count."""
    n: int = connection.execute(ANSWERED.where(sittings.c.worker_id == worker)).scalar_one()
    return n


def sittings_done(connection: Connection, study: Study, worker: Worker, latest: int) -> bool:
    """Whether a person has had as many sittings as the study gives; one without an answer does not count."""
    if latest < study.sittings:
        return False
    n: int = connection.execute(HELD.where(sittings.c.worker_id == worker.id)).scalar_one()
    return n >= study.sittings


def turn_away(connection: Connection, worker: Worker) -> Worker:
    """Nothing was left for a person who has answered nothing: straight to the end, without thanks and without a code."""
    note(connection, worker, full=True)
    connection.execute(update(workers).where(workers.c.id == worker.id).values(stage="done", seen=now()))
    return replace(worker, stage="done")


def unless_full(connection: Connection, study: Study, worker: Worker) -> Worker:
    """Tell a person at the door that nothing is left, before they read and practise for nothing."""
    if worker.stage in ("tasks", "debrief", "done") or state_of(connection) != "open":
        return worker
    pool = pool_of(connection, study, worker, looks=True)
    if pool and assigner(connection, study).choose(pool):
        return worker
    return worker if waiting_of(connection, worker) else turn_away(connection, worker)
