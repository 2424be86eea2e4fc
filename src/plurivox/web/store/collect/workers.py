"""Workers: invitations, platform ids behind pseudonyms, stages, visits."""

import hashlib
import json
import secrets
from dataclasses import dataclass, replace
from typing import Any, get_args

from sqlalchemy import Connection, bindparam, insert, select, update

from plurivox.web.api.worker_schemas import Platform
from plurivox.web.store import draws
from plurivox.web.store.collect.arms import draw
from plurivox.web.store.database import now
from plurivox.web.store.errors import Conflict, Forbidden, NotSignedIn
from plurivox.web.store.ids import new_id
from plurivox.web.store.kv import fact
from plurivox.web.store.schema import invites, raw_ids, visits, workers
from plurivox.web.store.study_state import must_be_open
from plurivox.web.study.config import Stage, Study
from plurivox.web.study.secrets import Keys

WORKER = select(workers.c.id, workers.c.pseudonym, workers.c.seed, workers.c.stage, workers.c.status, workers.c.arm)
BY_ID = WORKER.where(workers.c.id == bindparam("worker"))
STAGES: tuple[Stage, ...] = get_args(Stage)


@dataclass(frozen=True)
class Worker:
    """A person as the store knows them."""

    id: int
    pseudonym: str
    seed: int
    stage: Stage
    status: str
    arm: str = ""  # of a study that asks in several forms

    def labels(self, study: Study) -> list[str]:
        """The labels in this person's own order: shuffled between people, the same on every visit."""
        return sorted(study.labels, key=lambda label: hashlib.sha256(f"{self.seed} {label}".encode()).digest())


def worker_of(connection: Connection, worker: int) -> Worker:
    """The person with that id, who has not withdrawn."""
    row = connection.execute(BY_ID, {"worker": worker}).first()
    if row is None:
        raise NotSignedIn()
    if row.status == "erased":
        raise Forbidden("withdrawn", "you have withdrawn from this study; your answers are gone")
    return Worker(*row)


def enter_by_invite(connection: Connection, keys: Keys, study: Study, invite: int, key: str | None = None) -> Worker:
    """A new person with an invite that is open and not used up; or the one whose client has this key."""
    door = None if key is None else keys.hidden(f"{invite} {key}")
    if (known := _behind(connection, door)) is not None:
        return known
    must_be_open(connection, study)
    taken = connection.execute(
        update(invites)
        .where(invites.c.id == invite, invites.c.is_open == 1, invites.c.used < invites.c.uses)
        .values(used=invites.c.used + 1)
    )
    if not taken.rowcount:
        if (known := _behind(connection, door)) is not None:  # another server let the same client in just now
            return known
        raise Forbidden("invite-used", "this invite is used up or closed; ask for another one")
    return _born(connection, study, keys.pseudonym(f"invite {secrets.token_hex(16)}"), door)


def _behind(connection: Connection, door: str | None) -> Worker | None:
    """The person whose client came in with this key."""
    known = None if door is None else connection.execute(WORKER.where(workers.c.door == door)).first()
    return None if known is None else worker_of(connection, known.id)


def enter_by_platform(
    connection: Connection, keys: Keys, study: Study, who: Platform, bearer: int | None, key: str | None = None
) -> Worker:
    """A person sent by a platform. The first token binds the id: whoever types it again needs that token, or the key of
    the client that asked for it. At MTurk the assignment's id, which nobody else knows, is that key: pages in a frame
    may not be able to keep one."""
    if who.name not in study.platforms:
        raise Forbidden("other-platform", "this study takes nobody from this platform")
    pseudonym = keys.pseudonym(f"{who.name} {who.pid}")
    key = who.session if who.name == "mturk" else key
    door = None if key is None else keys.hidden(f"{pseudonym} {key}")
    row = connection.execute(WORKER.add_columns(workers.c.door).where(workers.c.pseudonym == pseudonym)).first()
    if row is None:
        must_be_open(connection, study)
        worker = _born(connection, study, pseudonym, door)
        raw = {"platform": who.name, "raw": who.pid, **_session(who)}
        connection.execute(insert(raw_ids).values(worker_id=worker.id, **raw))
        return worker
    if row.id != bearer and (door is None or row.door != door):
        detail = "somebody has begun with this id; go on in the browser you began in, or by your personal link"
        raise Conflict("begun-elsewhere", detail)
    person = worker_of(connection, row.id)
    connection.execute(update(raw_ids).where(raw_ids.c.worker_id == row.id).values(**_session(who)))
    if who.name == "mturk" and row.door != door:  # returned, and accepted again
        connection.execute(update(workers).where(workers.c.id == row.id).values(door=door))
    return person


def _session(who: Platform) -> dict[str, Any]:
    """The latest visit that the platform knows of."""
    return {"study": who.study, "session": who.session, "submit_to": who.submit_to}


def _born(connection: Connection, study: Study, pseudonym: str, door: str | None) -> Worker:
    seed = draws.rng.getrandbits(31)
    worker = Worker(new_id(), pseudonym, seed, study.stages()[0], "active", draw(connection, study))
    time = now()
    connection.execute(insert(workers).values(**vars(worker), door=door, born=time, seen=time))
    return worker


def advance(connection: Connection, study: Study, worker: Worker, **about: Any) -> Worker:
    """Into the stage after this one; what is known of the finished one is written down."""
    before = STAGES[: STAGES.index(worker.stage) + 1]  # the study may have lost a stage since the person came into it
    following = next(stage for stage in study.stages() if stage not in before)
    if following == "practice" and not fact(connection, "practice"):
        following = "tasks"
    here = update(workers).where(workers.c.id == worker.id, workers.c.stage == worker.stage)
    if not connection.execute(here.values(stage=following, seen=now())).rowcount:
        return worker_of(connection, worker.id)  # another server was faster: one click, one step
    note(connection, worker, **about)
    return replace(worker, stage=following)


def note(connection: Connection, worker: Worker, ms: float | None = None, **detail: Any) -> None:
    """A visit to the present stage: when it was left, how long it took, what was said."""
    row = {"worker_id": worker.id, "stage": worker.stage, "at": now(), "ms": ms, "detail": json.dumps(detail)}
    connection.execute(insert(visits).values(**row))


def go_to_end(connection: Connection, worker: Worker) -> Worker:
    """Straight to the last stage: nobody is thanked for answers that were not asked for."""
    connection.execute(update(workers).where(workers.c.id == worker.id).values(stage="done"))
    return replace(worker, stage="done")
