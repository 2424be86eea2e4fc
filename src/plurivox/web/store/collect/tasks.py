"""Tasks into the store, in bulk: texts, pairs, images, and fixed batches of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, insert, literal, null, select, update

from plurivox.assign import UNASKED, Assigner, Batches, Proposer, Strata
from plurivox.core.errors import InputError, first_few
from plurivox.web.store import random_source
from plurivox.web.store.collect import arms
from plurivox.web.store.database import batched, insert_rows
from plurivox.web.store.errors import NotFound
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.random_ids import new_id
from plurivox.web.store.report import answer_counters
from plurivox.web.store.report.soft_labels import unanswered_row
from plurivox.web.store.schema import media, plan_tasks, plans, soft_labels, tasks

BATCH_ROWS = 5_000
Data = bytes


@dataclass(frozen=True)
class Assignment:
    """How the tasks of a study are assigned: how many answers each one gets, and what chooses the tasks of a sitting."""

    per_task: int  # in every arm, in every fixed batch
    assigner: Assigner
    arms: Sequence[str] = ()

    @property
    def strata(self) -> dict[str, int]:
        """Tasks of each stratum in a sitting; empty where tasks are not chosen by stratum."""
        return dict(self.assigner.wanted()) if isinstance(self.assigner, Strata) else {}

    @property
    def in_batches(self) -> bool:
        """Whether sittings are fixed batches."""
        return isinstance(self.assigner, Batches)

    @property
    def by_gain(self) -> bool:
        """Whether the tasks come first whose next answer is expected to tell most."""
        return isinstance(self.assigner, Proposer)

    def facts(self) -> dict[str, Any]:
        """What quotas and queues follow from."""
        said: dict[str, Any] = {"per_task": self.per_task, "strata": self.strata}
        said |= {"gains": True} if self.by_gain else {}
        return said | ({"arms": list(self.arms)} if self.arms else {})


@dataclass(frozen=True)
class MediaFile:
    """An image or a sound as it came, and as it is shown."""

    type: str  # such as image/png
    bytes: Data
    shown_type: str
    shown: Data | None = None  # None: as it came
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class DisplayedMedia:
    """An image or a sound as it is shown."""

    type: str
    bytes: Data


@dataclass(frozen=True)
class NewTask:
    """A task to add."""

    name: str
    text: str | None = None
    text2: str | None = None
    medium: MediaFile | None = None
    stratum: str = ""
    practice: bool = False
    gold: str | None = None  # the label that is known to be right

    @property
    def kind(self) -> str:
        """image, audio, pair or text."""
        if self.medium:
            return self.medium.type.partition("/")[0]
        return "pair" if self.text2 is not None else "text"


def add_tasks(connection: Connection, assignment: Assignment, new: Iterable[NewTask]) -> int:
    """Put tasks into the store; how many there were."""
    n, trained = 0, practice_task_ids(connection)
    is_first = connection.execute(select(tasks.c.id).limit(1)).first() is None
    names: set[str] | None = set() if is_first else None  # a store that is empty need not be asked
    for part in batched(new, BATCH_ROWS):
        _check_new_names(connection, [one.name for one in part], names)
        held = {one.name: {"id": new_id(), **vars(one.medium)} for one in part if one.medium}
        insert_rows(connection, media, list(held.values()))
        rows = [_task_row(assignment, one, held[one.name]["id"] if one.name in held else None) for one in part]
        rows.sort(key=lambda row: row["id"])
        insert_rows(connection, tasks, rows)
        insert_rows(connection, soft_labels, [unanswered_row(row["id"]) for row in rows if not row["practice"]])
        trained += [row["id"] for row in rows if row["practice"]]
        n += len(rows)
    kv_set(connection, "practice", trained)
    if n and (assignment.arms or assignment.in_batches):
        kv_set(connection, "applied", None)  # no batch holds the new ones: nobody is asked about them
    elif is_first:  # their rows are as study.toml says
        _save_applied(connection, assignment)
    apply_assignment(connection, assignment)
    answer_counters.recount_tasks(connection)
    return n


def apply_assignment(connection: Connection, assignment: Assignment) -> None:
    """Let quotas and queues follow study.toml, which may have been edited."""
    if kv_get(connection, "applied") == assignment.facts():
        return
    quota: Any = assignment.per_task
    if assignment.in_batches:
        held = select(func.count()).where(plan_tasks.c.task_id == tasks.c.id).scalar_subquery()
        quota = assignment.per_task * held
    quota = arms.total_quota(len(assignment.arms), quota)
    unset = func.coalesce(tasks.c.gain, case((tasks.c.given > 0, 1.0), else_=UNASKED))
    gain = unset if assignment.by_gain else null()
    by_stratum = bool(assignment.strata)
    queue = case((tasks.c.given < quota, tasks.c.stratum if by_stratum else literal("")), else_=null())
    real = tasks.c.practice == 0
    connection.execute(update(tasks).where(real).values(quota=quota, gain=gain, queue=queue))  # each row once
    connection.execute(update(plans).values(queue=""))
    arms.sync_arms(
        connection, assignment.arms, assignment.per_task, by_stratum=by_stratum, in_batches=assignment.in_batches
    )
    _save_applied(connection, assignment)
    answer_counters.recount_tasks(connection)


def _save_applied(connection: Connection, assignment: Assignment) -> None:
    kv_set(connection, "strata", assignment.strata)
    kv_set(connection, "applied", assignment.facts())


def _task_row(assignment: Assignment, one: NewTask, medium: int | None) -> dict[str, Any]:
    home = one.stratum if isinstance(assignment.assigner, Strata) else ""
    return {
        "id": new_id(),
        "name": one.name,
        "kind": one.kind,
        "text": one.text,
        "text2": one.text2,
        "media_id": medium,
        "stratum": one.stratum,
        "practice": int(one.practice),
        "gold": one.gold,
        "quota": 0 if one.practice else assignment.per_task,
        "given": 0,
        "queue": None if one.practice else home,
        "rank": random_source.rng.random(),
        "gain": UNASKED if assignment.by_gain and not one.practice else None,
    }


def _check_new_names(connection: Connection, names: Sequence[str], known: set[str] | None) -> None:
    """Refuse names that are there already, by those we know or, where these are not all, by asking the store."""
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if known is not None:
        twice += sorted(known.intersection(names))
        known.update(names)
    else:
        for part in batched(names, 500):
            twice += connection.execute(select(tasks.c.name).where(tasks.c.name.in_(part))).scalars().all()
    if twice:
        raise InputError(f"tasks {first_few(twice)} are there already; every task needs a name of its own")


def add_batches(connection: Connection, assignment: Assignment, batches: Mapping[str, Sequence[str]]) -> None:
    """Batches by name, each a list of tasks: from now on sittings are these. Each goes to `per_task` people."""
    ids = {name: id for id, name in _find_task_ids(connection, [name for batch in batches.values() for name in batch])}
    for name, inside in batches.items():
        if strangers := [task for task in inside if task not in ids]:
            raise InputError(f"batch {name!r} names tasks that are not there: {first_few(strangers)}")
        row = {"name": name, "given": 0, "queue": "", "rank": random_source.rng.random()}
        plan = connection.execute(insert(plans).values(row)).inserted_primary_key
        assert plan is not None
        connection.execute(insert(plan_tasks), [{"plan_id": plan[0], "task_id": ids[task]} for task in set(inside)])
    kv_set(connection, "plans", len(batches))
    kv_set(connection, "applied", None)  # a task's quota is now as many times per_task as batches hold it
    apply_assignment(connection, assignment)


def _find_task_ids(connection: Connection, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    for part in batched(sorted(set(names)), 500):
        for row in connection.execute(select(tasks.c.id, tasks.c.name).where(tasks.c.name.in_(part))):
            yield row.id, row.name


def has_tasks(connection: Connection) -> bool:
    """Whether tasks were put into this database before."""
    return kv_get(connection, "applied") is not None


def has_batches(connection: Connection) -> bool:
    """Whether the study has fixed batches."""
    return bool(kv_get(connection, "plans"))


def practice_task_ids(connection: Connection) -> list[int]:
    """The tasks for practice, in the order in which they were added."""
    return kv_get(connection, "practice") or []


def count_tasks(connection: Connection) -> int:
    """How many tasks there are, practice not counted."""
    return connection.execute(select(func.count()).where(tasks.c.practice == 0)).scalar_one()


def first_task_kind(connection: Connection) -> str:
    """What the first task is: image, audio, text or pair; empty where there is none."""
    return connection.execute(select(tasks.c.kind).order_by(tasks.c.name).limit(1)).scalar() or ""


def get_media(connection: Connection, medium: int) -> DisplayedMedia:
    """An image or a sound as it is shown; raise NotFound where there is none."""
    wanted = select(media.c.shown_type, media.c.shown, media.c.bytes).where(media.c.id == medium)
    row = connection.execute(wanted).first()
    if row is None:
        raise NotFound("medium")
    return DisplayedMedia(row.shown_type, row.bytes if row.shown is None else row.shown)
