"""Tasks into the store, in bulk: texts, pairs, images, and fixed batches of them."""

import json
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import Connection, case, delete, func, insert, literal, null, select, update

from plurivox.core.errors import InputError, some
from plurivox.web.keys import new_id
from plurivox.web.pictures import Picture
from plurivox.web.store import tallying
from plurivox.web.store.people import fact
from plurivox.web.store.tables import STILL, beliefs, facts, media, plan_tasks, plans, tasks
from plurivox.web.study import Study

AT_ONCE = 5_000
T = TypeVar("T")


def batched(rows: Iterable[T], n: int) -> Iterator[list[T]]:
    """Lists of `n` rows; the last one may be shorter."""
    source = iter(rows)
    while part := list(islice(source, n)):
        yield part


@dataclass(frozen=True)
class NewTask:
    """A task to add."""

    name: str
    text: str | None = None
    text2: str | None = None
    picture: Picture | None = None
    stratum: str = ""
    practice: bool = False

    @property
    def kind(self) -> str:
        """image, pair or text."""
        return "image" if self.picture else "pair" if self.text2 is not None else "text"


def add_tasks(connection: Connection, study: Study, new: Iterable[NewTask]) -> int:
    """Put tasks into the store; how many there were."""
    chance, n, trained = random.SystemRandom(), 0, list(fact(connection, "practice") or [])
    for part in batched(new, AT_ONCE):
        _refuse_known(connection, [one.name for one in part])
        pictures = [(new_id(), one.picture) for one in part if one.picture is not None]
        if pictures:
            connection.execute(insert(media), [{"id": id, **vars(picture)} for id, picture in pictures])
        ids = iter([id for id, _ in pictures])
        rows = [_row(study, one, next(ids) if one.picture else None, chance) for one in part]
        rows.sort(key=lambda row: row["id"])
        connection.execute(insert(tasks), rows)
        if real := [unknown(row["id"]) for row in rows if not row["practice"]]:
            connection.execute(insert(beliefs), real)
        trained += [row["id"] for row in rows if row["practice"]]
        n += len(rows)
    set_fact(connection, "practice", trained)
    apply(connection, study)
    tallying.count_tasks(connection)
    return n


def unknown(task: int) -> dict[str, Any]:
    """What is believed of a task before anybody has answered it."""
    return {"task_id": task, "since": 0, "until": STILL, "n": 0, "sure": 1.0, "soft": "[]"}


def apply(connection: Connection, study: Study) -> None:
    """Let quotas and queues follow study.toml, which may have been edited."""
    said = {"per_task": study.per_task, "strata": dict(study.strata)}
    if fact(connection, "applied") == said:
        return
    quota: Any = study.per_task
    if fact(connection, "plans"):
        held = select(func.count()).where(plan_tasks.c.task_id == tasks.c.id).scalar_subquery()
        quota = study.per_task * held
    real = tasks.c.practice == 0
    connection.execute(update(tasks).where(real).values(quota=quota))
    queue = tasks.c.stratum if study.strata else literal("")
    connection.execute(
        update(tasks).where(real).values(queue=case((tasks.c.given < tasks.c.quota, queue), else_=null()))
    )
    connection.execute(update(plans).values(queue=""))
    set_fact(connection, "strata", dict(study.strata))
    set_fact(connection, "applied", said)
    tallying.count_tasks(connection)


def _row(study: Study, one: NewTask, picture: int | None, chance: random.Random) -> dict[str, Any]:
    queue = None if one.practice else one.stratum if study.strata else ""
    return {
        "id": new_id(),
        "name": one.name,
        "kind": one.kind,
        "text": one.text,
        "text2": one.text2,
        "media_id": picture,
        "stratum": one.stratum,
        "practice": int(one.practice),
        "quota": 0 if one.practice else study.per_task,
        "given": 0,
        "queue": queue,
        "rank": chance.random(),
    }


def _refuse_known(connection: Connection, names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    for part in batched(names, 500):
        twice += connection.execute(select(tasks.c.name).where(tasks.c.name.in_(part))).scalars().all()
    if twice:
        raise InputError(f"tasks {some(twice)} are there already; every task needs a name of its own")


def fix_batches(connection: Connection, study: Study, batches: Mapping[str, Sequence[str]]) -> None:
    """Batches by name, each a list of tasks: from now on sittings are these. Each goes to `per_task` people."""
    ids = {name: id for id, name in _named(connection, [name for batch in batches.values() for name in batch])}
    for name, inside in batches.items():
        if strangers := [task for task in inside if task not in ids]:
            raise InputError(f"batch {name!r} names tasks that are not there: {some(strangers)}")
        row = {"name": name, "given": 0, "queue": "", "rank": random.SystemRandom().random()}
        plan = connection.execute(insert(plans).values(row)).inserted_primary_key
        assert plan is not None
        connection.execute(insert(plan_tasks), [{"plan_id": plan[0], "task_id": ids[task]} for task in set(inside)])
    set_fact(connection, "plans", len(batches))
    set_fact(connection, "applied", None)  # a task's quota is now as many times per_task as batches hold it
    apply(connection, study)


def _named(connection: Connection, names: Sequence[str]) -> Iterator[tuple[int, str]]:
    for part in batched(sorted(set(names)), 500):
        for row in connection.execute(select(tasks.c.id, tasks.c.name).where(tasks.c.name.in_(part))):
            yield row.id, row.name


def set_fact(connection: Connection, name: str, value: Any) -> None:
    """Keep a fact about the study."""
    connection.execute(delete(facts).where(facts.c.name == name))
    connection.execute(insert(facts).values(name=name, value=json.dumps(value)))


def count_tasks(connection: Connection) -> int:
    """How many tasks there are, practice not counted."""
    return connection.execute(select(func.count()).where(tasks.c.practice == 0)).scalar_one()
