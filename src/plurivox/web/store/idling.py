"""Who has come and finds nothing open: to wait for slots that others may not answer, or to hear that the study is full."""

from typing import Literal, NamedTuple

from sqlalchemy import Connection, bindparam, func, select

from plurivox.web.store.arming import pool_of
from plurivox.web.store.database import now
from plurivox.web.store.items import assigner
from plurivox.web.store.people import Worker, state_of
from plurivox.web.store.pools import SEEN
from plurivox.web.store.tables import sittings, slots, tasks, workers
from plurivox.web.study import Study

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


class Idle(NamedTuple):
    """Nothing is open to this person now."""

    why: Literal["waiting", "full"]  # some may come back; all answers are there
    answered: int  # by this person: with none there is no completion code
    until: float | None = None  # when the first lease of others ends
    again: float | None = None  # seconds until it is worth asking again


def idle_of(connection: Connection, worker: Worker) -> Idle:
    """Whether a person to whom nothing is open may hope for something."""
    answered = answered_by(connection, worker.id)
    until = connection.execute(BACK, {"worker": worker.id, "arm": worker.arm}).scalar()
    if until is None:
        return Idle("full", answered)
    return Idle("waiting", answered, until, min(max(until - now(), SOONEST), LATEST))


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


def is_full_for(connection: Connection, study: Study, worker: Worker) -> bool:
    """Whether to tell a person at the door that nothing is left, before they read and practise for nothing."""
    if worker.stage in ("tasks", "debrief", "done") or state_of(connection) != "open":
        return False
    pool = pool_of(connection, study, worker, looks=True)
    if pool and assigner(connection, study).choose(pool):
        return False
    return idle_of(connection, worker).why == "full"
