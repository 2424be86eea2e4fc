"""Insert tasks (texts, pairs, images, sounds) and fixed batches in bulk; apply quotas; read task data."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, insert, literal, null, select, update

from plurivox.assign import UNASKED_GAIN, Assigner, Batches, Proposer, TasksPerStratum
from plurivox.core.errors import InputError, first_few
from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.collect import arms
from plurivox.web.store.database import batched, insert_rows_in_bulk
from plurivox.web.store.errors import NotFound
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.store.report import answer_counters
from plurivox.web.store.report.stored_soft_labels_and_task_list import soft_label_row_without_answers
from plurivox.web.store.schema import media, plan_tasks, plans, soft_labels, tasks

BATCH_ROWS = 5_000  # tasks per insert
Data = bytes


@dataclass(frozen=True)
class Assignment:
    """How tasks are assigned to workers: answers per task, the assigner that chooses the tasks of a sitting, and the arms."""

    per_task: int  # answers per task, in every arm and in every fixed batch
    assigner: Assigner
    arms: Sequence[str] = ()

    @property
    def tasks_per_sitting_by_stratum(self) -> dict[str, int]:
        """Stratum -> number of its tasks per sitting; empty if the assigner does not choose tasks by stratum."""
        return dict(self.assigner.tasks_per_stratum()) if isinstance(self.assigner, TasksPerStratum) else {}

    @property
    def uses_fixed_batches(self) -> bool:
        """Whether workers get fixed batches of tasks instead of tasks chosen one by one."""
        return isinstance(self.assigner, Batches)

    @property
    def orders_tasks_by_expected_gain(self) -> bool:
        """Whether the assigner chooses the tasks with the highest expected information gain first."""
        return isinstance(self.assigner, Proposer)

    def options_that_determine_quotas_and_queues(self) -> dict[str, Any]:
        """Return the assignment options that determine the quotas and queues of tasks, as a JSON object to save and compare."""
        options: dict[str, Any] = {"per_task": self.per_task, "strata": self.tasks_per_sitting_by_stratum}
        options |= {"gains": True} if self.orders_tasks_by_expected_gain else {}
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
    def kind_of_task_from_content(self) -> str:
        """The kind of a new task, from its content: image, audio, pair (two texts) or text."""
        if self.medium:
            return self.medium.type.partition("/")[0]
        return "pair" if self.text2 is not None else "text"


def add_tasks(connection: Connection, assignment: Assignment, new_tasks: Iterable[NewTask]) -> int:
    """Insert tasks in bulk, update quotas and counters, and return how many; raise InputError if a task name exists already."""
    n, practice = 0, practice_task_ids(connection)
    is_first = connection.execute(select(tasks.c.id).limit(1)).first() is None
    names: set[str] | None = set() if is_first else None  # in an empty database, the names in memory are enough
    for part in batched(new_tasks, BATCH_ROWS):
        _raise_if_name_exists_else_add_to_known(connection, [task.name for task in part], names)
        files = {task.name: {"id": random_62_bit_id(), **vars(task.medium)} for task in part if task.medium}
        insert_rows_in_bulk(connection, media, list(files.values()))
        rows = [
            _table_columns_of_new_task(assignment, task, files[task.name]["id"] if task.name in files else None)
            for task in part
        ]
        rows.sort(key=lambda row: row["id"])
        insert_rows_in_bulk(connection, tasks, rows)
        insert_rows_in_bulk(
            connection, soft_labels, [soft_label_row_without_answers(row["id"]) for row in rows if not row["practice"]]
        )
        practice += [row["id"] for row in rows if row["practice"]]
        n += len(rows)
    kv_set(connection, "practice", practice)
    if n and (assignment.arms or assignment.uses_fixed_batches):
        kv_set(connection, "applied", None)  # quotas depend on arms and batches: apply them again
    elif is_first:  # the rows have their quotas already
        _save_applied_assignment_options(connection, assignment)
    update_quotas_and_queues_if_options_changed(connection, assignment)
    answer_counters.recount_tasks_and_quotas_by_stratum(connection)
    return n


def update_quotas_and_queues_if_options_changed(connection: Connection, assignment: Assignment) -> None:
    """Update the quotas, queues and counters of all tasks if the assignment options differ from those last applied."""
    if kv_get(connection, "applied") == assignment.options_that_determine_quotas_and_queues():
        return
    quota: Any = assignment.per_task
    if assignment.uses_fixed_batches:
        n_batches = select(func.count()).where(plan_tasks.c.task_id == tasks.c.id).scalar_subquery()
        quota = assignment.per_task * n_batches
    quota = arms.quota_of_all_arms_plus_slots_without_arm(len(assignment.arms), quota)
    unset = func.coalesce(tasks.c.gain, case((tasks.c.given > 0, 1.0), else_=UNASKED_GAIN))
    gain = unset if assignment.orders_tasks_by_expected_gain else null()
    by_stratum = bool(assignment.tasks_per_sitting_by_stratum)
    queue = case((tasks.c.given < quota, tasks.c.stratum if by_stratum else literal("")), else_=null())
    not_practice = tasks.c.practice == 0
    connection.execute(update(tasks).where(not_practice).values(quota=quota, gain=gain, queue=queue))
    connection.execute(update(plans).values(queue=""))
    arms.update_arms_quotas_and_queues_from_config(
        connection,
        assignment.arms,
        assignment.per_task,
        by_stratum=by_stratum,
        uses_fixed_batches=assignment.uses_fixed_batches,
    )
    _save_applied_assignment_options(connection, assignment)
    answer_counters.recount_tasks_and_quotas_by_stratum(connection)


def _save_applied_assignment_options(connection: Connection, assignment: Assignment) -> None:
    """Save the assignment options from which the quotas and queues of tasks were computed."""
    kv_set(connection, "strata", assignment.tasks_per_sitting_by_stratum)
    kv_set(connection, "applied", assignment.options_that_determine_quotas_and_queues())


def _table_columns_of_new_task(assignment: Assignment, new_task: NewTask, media_id: int | None) -> dict[str, Any]:
    """Return the columns of a new task for the table `tasks`; `media_id` is the id of its image or sound file."""
    queue = new_task.stratum if isinstance(assignment.assigner, TasksPerStratum) else ""
    return {
        "id": random_62_bit_id(),
        "name": new_task.name,
        "kind": new_task.kind_of_task_from_content,
        "text": new_task.text,
        "text2": new_task.text2,
        "media_id": media_id,
        "stratum": new_task.stratum,
        "practice": int(new_task.practice),
        "gold": new_task.gold,
        "quota": 0 if new_task.practice else assignment.per_task,
        "given": 0,
        "queue": None if new_task.practice else queue,
        "rank": unpredictable_random_generator.rng.random(),
        "gain": UNASKED_GAIN if assignment.orders_tasks_by_expected_gain and not new_task.practice else None,
    }


def _raise_if_name_exists_else_add_to_known(
    connection: Connection, new_names: Sequence[str], known_names: set[str] | None
) -> None:
    """Raise InputError if a task name exists already: in `known_names`, which is updated, or if None in the database."""
    duplicates = (
        sorted({name for name in new_names if new_names.count(name) > 1})
        if len(set(new_names)) < len(new_names)
        else []
    )
    if known_names is not None:
        duplicates += sorted(known_names.intersection(new_names))
        known_names.update(new_names)
    else:
        for part in batched(new_names, 500):
            duplicates += connection.execute(select(tasks.c.name).where(tasks.c.name.in_(part))).scalars().all()
    if duplicates:
        raise InputError(
            f"tasks {first_few(duplicates)} are given twice or exist already; every task needs a unique name"
        )


def insert_fixed_batches(
    connection: Connection, assignment: Assignment, task_names_by_batch: Mapping[str, Sequence[str]]
) -> None:
    """Insert fixed batches, batch name -> task names; each batch is then given as a whole to `per_task` workers."""
    ids = {
        name: id
        for id, name in _yield_id_and_name_of_tasks_named(
            connection, [name for batch in task_names_by_batch.values() for name in batch]
        )
    }
    for name, members in task_names_by_batch.items():
        if unknown := [task for task in members if task not in ids]:
            example = connection.execute(select(func.min(tasks.c.name))).scalar()
            raise InputError(
                f"batch {name!r} contains tasks that the study does not have: {first_few(unknown)}; "
                f"write names as in the items, such as {example!r}"
            )
        row = {"name": name, "given": 0, "queue": "", "rank": unpredictable_random_generator.rng.random()}
        plan = connection.execute(insert(plans).values(row)).inserted_primary_key
        assert plan is not None
        connection.execute(insert(plan_tasks), [{"plan_id": plan[0], "task_id": ids[task]} for task in set(members)])
    kv_set(connection, "plans", len(task_names_by_batch))
    kv_set(connection, "applied", None)  # the quota of a task is now per_task times its batches
    update_quotas_and_queues_if_options_changed(connection, assignment)


def _yield_id_and_name_of_tasks_named(connection: Connection, task_names: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (id, name) of each task with one of these names; unknown names are left out."""
    for part in batched(sorted(set(task_names)), 500):
        for row in connection.execute(select(tasks.c.id, tasks.c.name).where(tasks.c.name.in_(part))):
            yield row.id, row.name


def has_tasks(connection: Connection) -> bool:
    """Return whether tasks were inserted into this database before."""
    return kv_get(connection, "applied") is not None


def has_batches(connection: Connection) -> bool:
    """Return whether the study has fixed batches of tasks."""
    return bool(kv_get(connection, "plans"))


def practice_task_ids(connection: Connection) -> list[int]:
    """Return the ids of the practice tasks, in the order in which they were added."""
    return kv_get(connection, "practice") or []


def count_tasks_without_practice(connection: Connection) -> int:
    """Return the number of tasks in the study, without practice tasks."""
    return connection.execute(select(func.count()).where(tasks.c.practice == 0)).scalar_one()


def count_tasks_in_no_batch(connection: Connection) -> int:
    """Return the number of tasks that no fixed batch contains, without practice tasks."""
    in_batch = select(plan_tasks.c.task_id)
    return connection.execute(
        select(func.count()).where(tasks.c.practice == 0, tasks.c.id.not_in(in_batch))
    ).scalar_one()


def kind_of_alphabetically_first_task(connection: Connection) -> str:
    """Return the kind (image, audio, text or pair) of the alphabetically first task; "" if there are no tasks."""
    return connection.execute(select(tasks.c.kind).order_by(tasks.c.name).limit(1)).scalar() or ""


def get_displayed_media(connection: Connection, media_id: int) -> DisplayedMedia:
    """Return an image or sound as shown to workers; raise NotFound if there is none with this id."""
    query = select(media.c.shown_type, media.c.shown, media.c.bytes).where(media.c.id == media_id)
    row = connection.execute(query).first()
    if row is None:
        raise NotFound("image or sound")
    return DisplayedMedia(row.shown_type, row.bytes if row.shown is None else row.shown)
