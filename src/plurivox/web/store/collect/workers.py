"""Workers: their ids, pseudonyms, client keys and platforms, the stage of each one, and visits to stages."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Self, get_args

from sqlalchemy import Connection, bindparam, insert, select, update

from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotSignedIn, Withdrawn
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.store.schema import raw_ids, sittings, visits, workers

Stage = Literal["consent", "instructions", "quiz", "practice", "tasks", "debrief", "done"]
STAGES: tuple[Stage, ...] = get_args(Stage)
WORKER_COLUMNS = (workers.c.id, workers.c.pseudonym, workers.c.seed, workers.c.stage, workers.c.status, workers.c.arm)
HAS_ANSWERED_TASKS = (  # SQL condition for a row of `workers`; practice does not count
    select(sittings.c.id)
    .where(sittings.c.worker_id == workers.c.id, sittings.c.number > 0, sittings.c.done > 0)
    .exists()
)
WORKER_WITH_ID = select(*WORKER_COLUMNS).where(workers.c.id == bindparam("worker"))


@dataclass(frozen=True)
class Worker:
    """A worker of a study: id, pseudonym, seed of the label order, current stage, status (active, excluded, erased) and arm."""

    id: int
    pseudonym: str
    seed: int
    stage: Stage
    status: str  # active, excluded, erased
    arm: str = ""  # empty if the study has one form

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Create a Worker from a database row with the columns of the table `workers`."""
        return cls(*(row._mapping[column] for column in WORKER_COLUMNS))

    def order_labels_randomly_by_worker_seed(self, labels: Iterable[str]) -> list[str]:
        """Return the labels in a random order that depends on the worker only, so that it is the same on every visit."""
        return sorted(labels, key=lambda label: hashlib.sha256(f"{self.seed} {label}".encode()).digest())


def is_turned_away(stage_of_active_worker: str, has_answered_tasks: bool) -> bool:
    """Return whether no task was left for a worker: the worker is at the last stage without having answered any."""
    return stage_of_active_worker == "done" and not has_answered_tasks


@dataclass(frozen=True)
class Platform:
    """A worker's id at a platform (Prolific, MTurk), with the latest study and session there."""

    name: str
    pid: str
    study: str
    session: str
    submit_to: str | None = None  # where MTurk expects the form at the end


@dataclass(frozen=True)
class WorkerIdAndKey:
    """The id of a worker, and the keyed hash by which the worker's browser is recognised."""

    worker: int
    client_key: str | None


def get_worker(connection: Connection, worker: int) -> Worker:
    """Return the worker with this id; raise NotSignedIn if there is none, Withdrawn if the worker was erased."""
    row = connection.execute(WORKER_WITH_ID, {"worker": worker}).first()
    if row is None:
        raise NotSignedIn()
    if row.status == "erased":
        raise Withdrawn()
    return Worker.from_row(row)


def has_workers(connection: Connection) -> bool:
    """Return whether the study has any worker yet."""
    return connection.execute(select(workers.c.id).limit(1)).first() is not None


def arm_by_worker_pseudonym(connection: Connection) -> dict[str, str]:
    """Return worker pseudonym -> arm of the study ("" for workers without an arm), sorted by pseudonym."""
    rows = connection.execute(select(workers.c.pseudonym, workers.c.arm).order_by(workers.c.pseudonym))
    return {row.pseudonym: row.arm for row in rows}


def list_all_worker_ids(connection: Connection) -> Sequence[int]:
    """Return the ids of all workers."""
    return connection.execute(select(workers.c.id)).scalars().all()


# ---- entering the study


def find_worker_by_key(connection: Connection, client_key: str | None) -> Worker | None:
    """Return the worker whose browser has this key (stored as keyed hash); None if there is none."""
    if client_key is None:
        return None
    known = connection.execute(select(workers.c.id).where(workers.c.door == client_key)).scalar()
    return None if known is None else get_worker(connection, known)


def find_worker_id_and_client_key_by_pseudonym(connection: Connection, pseudonym: str) -> WorkerIdAndKey | None:
    """Return the id and the browser key (a keyed hash) of the worker with a pseudonym; None if no worker has it."""
    row = connection.execute(select(workers.c.id, workers.c.door).where(workers.c.pseudonym == pseudonym)).first()
    return None if row is None else WorkerIdAndKey(*row)


def add_worker(connection: Connection, pseudonym: str, stage: Stage, arm: str, client_key: str | None) -> Worker:
    """Insert a new worker at a stage of the study and in an arm; return the worker."""
    worker = Worker(
        random_62_bit_id(), pseudonym, unpredictable_random_generator.rng.getrandbits(31), stage, "active", arm
    )
    time = current_unix_time()
    connection.execute(insert(workers).values(**asdict(worker), door=client_key, born=time, seen=time))
    return worker


def set_client_key(connection: Connection, worker: int, client_key: str | None) -> None:
    """Set the key (a keyed hash) by which a worker's browser is recognised."""
    connection.execute(update(workers).where(workers.c.id == worker).values(door=client_key))


def insert_platform_id_of_worker(connection: Connection, worker: int, platform: Platform) -> None:
    """Insert a worker's id at a platform such as Prolific, with the study and session ids there."""
    values = {"platform": platform.name, "raw": platform.pid, **_platform_columns_without_worker_id(platform)}
    connection.execute(insert(raw_ids).values(worker_id=worker, **values))


def update_platform_session_of_worker(connection: Connection, worker: int, platform: Platform) -> None:
    """Update the study and session ids of a worker at the platform that sent the worker."""
    connection.execute(
        update(raw_ids).where(raw_ids.c.worker_id == worker).values(**_platform_columns_without_worker_id(platform))
    )


def _platform_columns_without_worker_id(platform: Platform) -> dict[str, Any]:
    """Return study, session and submit address of a platform as columns of the table `raw_ids`."""
    return {"study": platform.study, "session": platform.session, "submit_to": platform.submit_to}


def get_platform_and_ids_of_worker(connection: Connection, worker: int) -> Platform | None:
    """Return the platform that sent a worker and the id there; None if none did or the ids were deleted."""
    columns = (raw_ids.c.platform, raw_ids.c.raw, raw_ids.c.study, raw_ids.c.session, raw_ids.c.submit_to)
    row = connection.execute(select(*columns).where(raw_ids.c.worker_id == worker)).first()
    return None if row is None else Platform(*row)


# ---- stages


def set_stage_if_still_at_old_stage(connection: Connection, worker: Worker, stage: Stage) -> bool:
    """Move a worker to a stage and return True; return False if another request has moved the worker meanwhile."""
    at_stage = update(workers).where(workers.c.id == worker.id, workers.c.stage == worker.stage)
    return bool(connection.execute(at_stage.values(stage=stage, seen=current_unix_time())).rowcount)


def record_visit_to_current_stage(
    connection: Connection, worker: Worker, duration_ms: float | None = None, **detail: Any
) -> None:
    """Insert the visit of a worker to the current stage, which ends now, with its duration and details as JSON."""
    row = {
        "worker_id": worker.id,
        "stage": worker.stage,
        "at": current_unix_time(),
        "ms": duration_ms,
        "detail": json.dumps(detail),
    }
    connection.execute(insert(visits).values(**row))


def set_entry_time_of_all_workers(connection: Connection, time: float) -> None:
    """Set when every worker entered the study, such as the simulated ones of the demo."""
    connection.execute(update(workers).values(born=time))


def insert_stage_visits(connection: Connection, visit_rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows into the table `visits` (visits of workers to stages), such as the simulated ones of the demo."""
    connection.execute(insert(visits), visit_rows)


def move_excluded_worker_to_last_stage(connection: Connection, worker: Worker) -> Worker:
    """Move an excluded worker to the last stage, without the debriefing; return the updated worker."""
    connection.execute(update(workers).where(workers.c.id == worker.id).values(stage="done"))
    return replace(worker, stage="done")


def move_worker_without_task_to_last_stage(connection: Connection, worker: Worker) -> Worker:
    """Move a worker without answers, for whom no task is left, to the last stage, skipping the debriefing; record the visit as
    `full`. Return the updated worker."""
    record_visit_to_current_stage(connection, worker, full=True)
    connection.execute(update(workers).where(workers.c.id == worker.id).values(stage="done", seen=current_unix_time()))
    return replace(worker, stage="done")
