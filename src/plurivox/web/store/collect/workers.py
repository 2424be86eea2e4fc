"""Workers: who takes part, how each one came in, which stage each one is at, and their visits to the stages."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, get_args

from sqlalchemy import Connection, bindparam, insert, select, update

from plurivox.web.store import random_source
from plurivox.web.store.database import now
from plurivox.web.store.errors import NotSignedIn, Withdrawn
from plurivox.web.store.random_ids import new_id
from plurivox.web.store.schema import raw_ids, visits, workers

Stage = Literal["consent", "instructions", "quiz", "practice", "tasks", "debrief", "done"]
STAGES: tuple[Stage, ...] = get_args(Stage)
WORKER_COLUMNS = (workers.c.id, workers.c.pseudonym, workers.c.seed, workers.c.stage, workers.c.status, workers.c.arm)
WORKER_WITH_ID = select(*WORKER_COLUMNS).where(workers.c.id == bindparam("worker"))


@dataclass(frozen=True)
class Worker:
    """A person as the store knows them."""

    id: int
    pseudonym: str
    seed: int
    stage: Stage
    status: str  # active, excluded, erased
    arm: str = ""  # of a study that asks in several forms

    @classmethod
    def of(cls, row: Any) -> Self:
        """The worker of a row that has `WORKER_COLUMNS`, and perhaps others."""
        return cls(*(row._mapping[column] for column in WORKER_COLUMNS))

    def label_order(self, labels: Iterable[str]) -> list[str]:
        """The labels in this person's own order: shuffled between people, the same on every visit."""
        return sorted(labels, key=lambda label: hashlib.sha256(f"{self.seed} {label}".encode()).digest())


@dataclass(frozen=True)
class Platform:
    """A worker's id at a platform, with the latest study and session there."""

    name: str
    pid: str
    study: str
    session: str
    submit_to: str | None = None  # where MTurk wants the end to be sent


@dataclass(frozen=True)
class Entry:
    """The worker of a pseudonym, and the key that the worker's client came in with, as a keyed hash."""

    worker: int
    client_key: str | None


def get_worker(connection: Connection, worker: int) -> Worker:
    """The person with that id; raise NotSignedIn where there is none, Withdrawn where the person was erased."""
    row = connection.execute(WORKER_WITH_ID, {"worker": worker}).first()
    if row is None:
        raise NotSignedIn()
    if row.status == "erased":
        raise Withdrawn()
    return Worker.of(row)


def has_workers(connection: Connection) -> bool:
    """Whether anybody has come in yet."""
    return connection.execute(select(workers.c.id).limit(1)).first() is not None


def worker_ids(connection: Connection) -> Sequence[int]:
    """The ids of all workers."""
    return connection.execute(select(workers.c.id)).scalars().all()


# ---- who comes in


def find_worker_by_key(connection: Connection, client_key: str | None) -> Worker | None:
    """The person whose client came in with this key."""
    if client_key is None:
        return None
    known = connection.execute(select(workers.c.id).where(workers.c.door == client_key)).scalar()
    return None if known is None else get_worker(connection, known)


def find_entry(connection: Connection, pseudonym: str) -> Entry | None:
    """Who has come in under a pseudonym; None where nobody has."""
    row = connection.execute(select(workers.c.id, workers.c.door).where(workers.c.pseudonym == pseudonym)).first()
    return None if row is None else Entry(*row)


def add_worker(connection: Connection, pseudonym: str, stage: Stage, arm: str, client_key: str | None) -> Worker:
    """Insert a person who comes in for the first time."""
    worker = Worker(new_id(), pseudonym, random_source.rng.getrandbits(31), stage, "active", arm)
    time = now()
    connection.execute(insert(workers).values(**asdict(worker), door=client_key, born=time, seen=time))
    return worker


def set_client_key(connection: Connection, worker: int, client_key: str | None) -> None:
    """From now on this key lets the person's client in again."""
    connection.execute(update(workers).where(workers.c.id == worker).values(door=client_key))


def add_platform(connection: Connection, worker: int, platform: Platform) -> None:
    """Insert the platform's id of a person."""
    values = {"platform": platform.name, "raw": platform.pid, **_session_columns(platform)}
    connection.execute(insert(raw_ids).values(worker_id=worker, **values))


def set_session(connection: Connection, worker: int, platform: Platform) -> None:
    """Update the latest study and session that the platform knows of."""
    connection.execute(update(raw_ids).where(raw_ids.c.worker_id == worker).values(**_session_columns(platform)))


def _session_columns(platform: Platform) -> dict[str, Any]:
    return {"study": platform.study, "session": platform.session, "submit_to": platform.submit_to}


def get_platform(connection: Connection, worker: int) -> Platform | None:
    """The platform that sent a person; None where none did, or its ids were deleted."""
    columns = (raw_ids.c.platform, raw_ids.c.raw, raw_ids.c.study, raw_ids.c.session, raw_ids.c.submit_to)
    row = connection.execute(select(*columns).where(raw_ids.c.worker_id == worker)).first()
    return None if row is None else Platform(*row)


# ---- stages


def set_stage(connection: Connection, worker: Worker, stage: Stage) -> bool:
    """Move a person on to a stage; False where the person is no longer at `worker.stage`."""
    here = update(workers).where(workers.c.id == worker.id, workers.c.stage == worker.stage)
    return bool(connection.execute(here.values(stage=stage, seen=now())).rowcount)


def record_visit(connection: Connection, worker: Worker, ms: float | None = None, **detail: Any) -> None:
    """Insert a visit to the present stage: when it was left, how long it took, what was said."""
    row = {"worker_id": worker.id, "stage": worker.stage, "at": now(), "ms": ms, "detail": json.dumps(detail)}
    connection.execute(insert(visits).values(**row))


def add_visits(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert visits that were made up, as in the demo."""
    connection.execute(insert(visits), rows)


def move_to_end(connection: Connection, worker: Worker) -> Worker:
    """Move an excluded person to the last stage, past the debriefing; the worker after that."""
    connection.execute(update(workers).where(workers.c.id == worker.id).values(stage="done"))
    return replace(worker, stage="done")


def turn_away(connection: Connection, worker: Worker) -> Worker:
    """Move a person for whom no task is left, and who has answered nothing, to the last stage, past the debriefing; record
    the visit as `full`. The worker after that."""
    record_visit(connection, worker, full=True)
    connection.execute(update(workers).where(workers.c.id == worker.id).values(stage="done", seen=now()))
    return replace(worker, stage="done")
