"""Insert tasks (texts, pairs, images, sounds) and fixed batches in bulk; apply quotas; read task data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, insert, literal, null, select, update

from plurivox.assign import UNASKED_GAIN, Assigner, Batches, Proposer, Strata
from plurivox.core.errors import InputError, first_few
from plurivox.web.store import random_generator
from plurivox.web.store.collect import arms
from plurivox.web.store.database import batched, insert_rows
from plurivox.web.store.errors import NotFound
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.random_ids import new_id
from plurivox.web.store.report import answer_counters
from plurivox.web.store.report.soft_labels import unanswered_row
from plurivox.web.store.schema import media, plan_tasks, plans, soft_labels, tasks

BATCH_ROWS = 5_000  # tasks per insert
Data = bytes


@dataclass(frozen=True)
class Assignment:
    """How the tasks of a study are assigned: answers per task, and the assigner that chooses the tasks of a sitting."""

    per_task: int  # answers per task, in every arm and in every fixed batch
    assigner: Assigner
    arms: Sequence[str] = ()

    @property
    def strata(self) -> dict[str, int]:
        """stratum -> tasks per sitting; empty if tasks are not chosen by stratum."""
        return dict(self.assigner.tasks_per_stratum()) if isinstance(self.assigner, Strata) else {}

    @property
    def in_batches(self) -> bool:
        """Whether sittings are fixed batches."""
        return isinstance(self.assigner, Batches)

    @property
    def by_gain(self) -> bool:
        """Whether tasks with the highest expected information gain come first."""
        return isinstance(self.assigner, Proposer)

    def applied_options(self) -> dict[str, Any]:
        """Return the options that determine quotas and queues, as stored under the key "applied"."""
        options: dict[str, Any] = {"per_task": self.per_task, "strata": self.strata}
        options |= {"gains": True} if self.by_gain else {}
        return options | ({"arms": list(self.arms)} if self.arms else {})


@dataclass(frozen=True)
class MediaFile:
    """An image or sound file, as imported and as shown to workers."""

    type: str  # such as image/png
    bytes: Data
    shown_type: str
    shown: Data | None = None  # None: as imported
    width: int = 0
    height: int = 0


@dataclass(frozen=True)
class DisplayedMedia:
    """An image or sound as shown to workers."""

    type: str
    bytes: Data


@dataclass(frozen=True)
class NewTask:
    """A task to insert: its name and content."""

    name: str
    text: str | None = None
    text2: str | None = None
    medium: MediaFile | None = None
    stratum: str = ""
    practice: bool = False
    gold: str | None = None  # the correct label, if known

    @property
    def kind(self) -> str:
        """image, audio, pair or text."""
        if self.medium:
            return self.medium.type.partition("/")[0]
        return "pair" if self.text2 is not None else "text"


def add_tasks(connection: Connection, assignment: Assignment, new: Iterable[NewTask]) -> int:
    """Insert tasks in bulk and update quotas and counters; return how many. Raise InputError if a name exists already."""
    n, practice = 0, practice_task_ids(connection)
    is_first = connection.execute(select(tasks.c.id).limit(1)).first() is None
    names: set[str] | None = set() if is_first else None  # in an empty database, the names in memory are enough
    for part in batched(new, BATCH_ROWS):
        _check_new_names(connection, [task.name for task in part], names)
        files = {task.name: {"id": new_id(), **vars(task.medium)} for task in part if task.medium}
        insert_rows(connection, media, list(files.values()))
        rows = [_task_row(assignment, task, files[task.name]["id"] if task.name in files else None) for task in part]
        rows.sort(key=lambda row: row["id"])
        insert_rows(connection, tasks, rows)
        insert_rows(connection, soft_labels, [unanswered_row(row["id"]) for row in rows if not row["practice"]])
        practice += [row["id"] for row in rows if row["practice"]]
        n += len(rows)
    kv_set(connection, "practice", practice)
    if n and (assignment.arms or assignment.in_batches):
        kv_set(connection, "applied", None)  # quotas depend on arms and batches: apply them again
    elif is_first:  # the rows have their quotas already
        _save_applied(connection, assignment)
    apply_assignment(connection, assignment)
    answer_counters.recount_tasks(connection)
    return n


def apply_assignment(connection: Connection, assignment: Assignment) -> None:
    """Update quotas, queues and counters of all tasks if study.toml was edited since they were last applied."""
    if kv_get(connection, "applied") == assignment.applied_options():
        return
    quota: Any = assignment.per_task
    if assignment.in_batches:
        n_batches = select(func.count()).where(plan_tasks.c.task_id == tasks.c.id).scalar_subquery()
        quota = assignment.per_task * n_batches
    quota = arms.total_quota(len(assignment.arms), quota)
    unset = func.coalesce(tasks.c.gain, case((tasks.c.given > 0, 1.0), else_=UNASKED_GAIN))
    gain = unset if assignment.by_gain else null()
    by_stratum = bool(assignment.strata)
    queue = case((tasks.c.given < quota, tasks.c.stratum if by_stratum else literal("")), else_=null())
    not_practice = tasks.c.practice == 0
    connection.execute(update(tasks).where(not_practice).values(quota=quota, gain=gain, queue=queue))
    connection.execute(update(plans).values(queue=""))
    arms.sync_arms(
        connection, assignment.arms, assignment.per_task, by_stratum=by_stratum, in_batches=assignment.in_batches
    )
    _save_applied(connection, assignment)
    answer_counters.recount_tasks(connection)


def _save_applied(connection: Connection, assignment: Assignment) -> None:
    """Save which options quotas and queues were computed with."""
    kv_set(connection, "strata", assignment.strata)
    kv_set(connection, "applied", assignment.applied_options())


def _task_row(assignment: Assignment, task: NewTask, medium: int | None) -> dict[str, Any]:
    """Return the row of a new task in the table `tasks`; `medium` is the id of its file."""
    queue = task.stratum if isinstance(assignment.assigner, Strata) else ""
    return {
        "id": new_id(),
        "name": task.name,
        "kind": task.kind,
        "text": task.text,
        "text2": task.text2,
        "media_id": medium,
        "stratum": task.stratum,
        "practice": int(task.practice),
        "gold": task.gold,
        "quota": 0 if task.practice else assignment.per_task,
        "given": 0,
        "queue": None if task.practice else queue,
        "rank": random_generator.rng.random(),
        "gain": UNASKED_GAIN if assignment.by_gain and not task.practice else None,
    }


def _check_new_names(connection: Connection, names: Sequence[str], known: set[str] | None) -> None:
    """Raise InputError if a task name exists already: in `known`, which is updated, or if None in the database."""
    duplicates = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if known is not None:
        duplicates += sorted(known.intersection(names))
        known.update(names)
    else:
        for part in batched(names, 500):
            duplicates += connection.execute(select(tasks.c.name).where(tasks.c.name.in_(part))).scalars().all()
    if duplicates:
        raise InputError(f"tasks {first_few(duplicates)} exist already; every task needs a unique name")


def add_batches(connection: Connection, assignment: Assignment, batches: Mapping[str, Sequence[str]]) -> None:
    """Insert fixed batches, name -> its tasks; sittings are then these batches, each for `per_task` workers."""
    ids = {name: id for id, name in _find_task_ids(connection, [name for batch in batches.values() for name in batch])}
    for name, members in batches.items():
        if unknown := [task for task in members if task not in ids]:
            raise InputError(f"batch {name!r} contains tasks that the study does not have: {first_few(unknown)}")
        row = {"name": name, "given": 0, "queue": "", "rank": random_generator.rng.random()}
        plan = connection.execute(insert(plans).values(row)).inserted_primary_key
        assert plan is not None
        connection.execute(insert(plan_tasks), [{"plan_id": plan[0], "task_id": ids[task]} for task in set(members)])
    kv_set(connection, "plans", len(batches))
    kv_set(connection, "applied", None)  # the quota of a task is now per_task times its batches
    apply_assignment(connection, assignment)


def _find_task_ids(connection: Connection, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (id, name) of the tasks with these names; unknown names are left out."""
    for part in batched(sorted(set(names)), 500):
        for row in connection.execute(select(tasks.c.id, tasks.c.name).where(tasks.c.name.in_(part))):
            yield row.id, row.name


def has_tasks(connection: Connection) -> bool:
    """Return whether tasks were inserted into this database before."""
    return kv_get(connection, "applied") is not None


def has_batches(connection: Connection) -> bool:
    """Return whether the study has fixed batches."""
    return bool(kv_get(connection, "plans"))


def practice_task_ids(connection: Connection) -> list[int]:
    """Return the ids of the practice tasks, in the order in which they were added."""
    return kv_get(connection, "practice") or []


def count_tasks(connection: Connection) -> int:
    """Return the number of tasks, without practice."""
    return connection.execute(select(func.count()).where(tasks.c.practice == 0)).scalar_one()


def first_task_kind(connection: Connection) -> str:
    """Return the kind of the first task by name: image, audio, text or pair; "" if there are no tasks."""
    return connection.execute(select(tasks.c.kind).order_by(tasks.c.name).limit(1)).scalar() or ""


def get_media(connection: Connection, medium: int) -> DisplayedMedia:
    """Return an image or sound as shown to workers; raise NotFound if there is none with this id."""
    query = select(media.c.shown_type, media.c.shown, media.c.bytes).where(media.c.id == medium)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound("image or sound")
    return DisplayedMedia(row.shown_type, row.bytes if row.shown is None else row.shown)
