"""Tasks chosen at random for the owner's preview: any task, whatever its quota, leases and answers. Nothing is written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from plurivox.web.store.collect.sittings_and_leased_slots import TASK_COLUMNS, ShownTask
from plurivox.web.store.database import batched
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.store.schema import media, plan_tasks, plans, tasks

MAX_BATCH = 1000  # tasks read of a fixed batch; other sittings are not larger either
IDS_PER_QUERY = 500


@dataclass(frozen=True)
class NamedTask:
    """A task for owners: its name, and its content as shown to workers."""

    name: str
    shown: ShownTask


class RandomTasks:
    """All tasks of a study except practice, in the place of the tasks open to a worker; an assigner chooses a sitting from it.

    The ids of tasks are random, so that the tasks from a random id on are a random sample, found by the primary key.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection

    def least_assigned_open_tasks(self, stratum: str | None, n: int) -> Sequence[int]:
        """Return the ids of at most `n` random tasks of a stratum (None: of all)."""
        first = random_62_bit_id()
        query = select(tasks.c.id).where(tasks.c.practice == 0).order_by(tasks.c.id)
        if stratum is not None:
            query = query.where(tasks.c.stratum == stratum)
        found = self.connection.execute(query.where(tasks.c.id >= first).limit(n)).scalars().all()
        rest = self.connection.execute(query.where(tasks.c.id < first).limit(n - len(found))).scalars().all()
        return [*found, *rest]

    def most_informative_open_tasks(self, n: int, min_gain: float) -> Sequence[int]:  # noqa: ARG002
        """Return the ids of at most `n` random tasks; their expected information gain does not matter."""
        return self.least_assigned_open_tasks(None, n)

    def open_tasks_of_least_assigned_batch(self) -> Sequence[int]:
        """Return the ids of the tasks of a random fixed batch, at most `MAX_BATCH`; empty if the study has no batches."""
        batch = select(plans.c.id).order_by(func.random()).limit(1).scalar_subquery()
        query = select(plan_tasks.c.task_id).where(plan_tasks.c.plan_id == batch).limit(MAX_BATCH)
        return self.connection.execute(query).scalars().all()


def get_name_and_content_by_task_id(connection: Connection, task_ids: Sequence[int]) -> Mapping[int, NamedTask]:
    """Return {task id: name and content} of these tasks; unknown ids are left out."""
    query = select(tasks.c.id, tasks.c.name, *TASK_COLUMNS).outerjoin(media, media.c.id == tasks.c.media_id)
    return {
        row.id: NamedTask(row.name, ShownTask.from_row(row))
        for part in batched(dict.fromkeys(task_ids), IDS_PER_QUERY)
        for row in connection.execute(query.where(tasks.c.id.in_(part)))
    }
