"""Tasks into the store, in bulk: texts, pairs, images, and fixed batches of them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sqlalchemy import Connection, case, func, insert, literal, null, select, update

from plurivox.assign import UNASKED, Assigner, Batches, Proposer, Strata
from plurivox.core.errors import InputError, some
from plurivox.web.store import draws
from plurivox.web.store.collect import arms
from plurivox.web.store.database import batched, put
from plurivox.web.store.ids import new_id
from plurivox.web.store.kv import fact, set_fact
from plurivox.web.store.report import counters
from plurivox.web.store.schema import STILL, beliefs, media, plan_tasks, plans, tasks
from plurivox.web.study.assigner import assigner
from plurivox.web.study.config import Study
from plurivox.web.study.task_audio import Sound
from plurivox.web.study.task_images import Picture

AT_ONCE = 5_000
T = TypeVar("T")


@dataclass(frozen=True)
class NewTask:
    """A task to add."""

    name: str
    text: str | None = None
    text2: str | None = None
    picture: Picture | None = None
    stratum: str = ""
    practice: bool = False
    gold: str | None = None  # the label that is known to be right
    sound: Sound | None = None

    @property
    def kind(self) -> str:
        """image, audio, pair or text."""
        if self.picture or self.sound:
            return "image" if self.picture else "audio"
        return "pair" if self.text2 is not None else "text"

    def medium(self) -> dict[str, Any] | None:
        """What goes beside it into the store."""
        if self.sound:
            kind = self.sound.type
            about = {"type": kind, "shown_type": kind, "shown": None, "width": 0, "height": 0}
            return {**about, "bytes": self.sound.bytes}
        return vars(self.picture) if self.picture else None


def add_tasks(connection: Connection, study: Study, new: Iterable[NewTask]) -> int:
    """Put tasks into the store; how many there were."""
    n, trained = 0, list(fact(connection, "practice") or [])
    method = assigner(connection, study)
    is_first = connection.execute(select(tasks.c.id).limit(1)).first() is None
    names: set[str] | None = set() if is_first else None  # a store that is empty need not be asked
    for part in batched(new, AT_ONCE):
        _refuse_known(connection, [one.name for one in part], names)
        held = {one.name: {"id": new_id(), **medium} for one in part if (medium := one.medium())}
        put(connection, media, list(held.values()))
        rows = [_row(method, study, one, held[one.name]["id"] if one.name in held else None) for one in part]
        rows.sort(key=lambda row: row["id"])
        put(connection, tasks, rows)
        put(connection, beliefs, [unknown(row["id"]) for row in rows if not row["practice"]])
        trained += [row["id"] for row in rows if row["practice"]]
        n += len(rows)
    set_fact(connection, "practice", trained)
    if n and (study.arms or isinstance(method, Batches)):
        set_fact(connection, "applied", None)  # no batch holds the new ones: nobody is asked about them
    elif is_first:  # their rows are as study.toml says
        _note_applied(connection, study, method)
    apply(connection, study)
    counters.count_tasks(connection)
    return n


def unknown(task: int) -> dict[str, Any]:
    """What is believed of a task before anybody has answered it."""
    return {"task_id": task, "since": 0, "until": STILL, "n": 0, "sure": 1.0, "soft": "[]"}


def apply(connection: Connection, study: Study) -> None:
    """Let quotas and queues follow study.toml, which may have been edited."""
    method = assigner(connection, study)
    strata = _strata(method)
    if fact(connection, "applied") == _said(study, method):
        return
    quota: Any = study.per_task
    if isinstance(method, Batches):
        held = select(func.count()).where(plan_tasks.c.task_id == tasks.c.id).scalar_subquery()
        quota = study.per_task * held
    quota = arms.total_quota(study, quota)
    real = tasks.c.practice == 0
    gain = func.coalesce(tasks.c.gain, case((tasks.c.given > 0, 1.0), else_=UNASKED)) if _ranks(method) else null()
    home = tasks.c.stratum if strata else literal("")
    queue = case((tasks.c.given < quota, home), else_=null())
    connection.execute(
        update(tasks).where(real).values(quota=quota, gain=gain, queue=queue)
    )  # each row is written once
    connection.execute(update(plans).values(queue=""))
    arms.lay_out(connection, study, by_stratum=bool(strata), in_batches=isinstance(method, Batches))
    _note_applied(connection, study, method)
    counters.count_tasks(connection)


def _strata(method: Assigner) -> dict[str, int]:
    return dict(method.wanted()) if isinstance(method, Strata) else {}


def _said(study: Study, method: Assigner) -> dict[str, Any]:
    """What quotas and queues follow."""
    said: dict[str, Any] = {"per_task": study.per_task, "strata": _strata(method)}
    said |= {"gains": True} if _ranks(method) else {}
    return said | ({"arms": [one.name for one in study.arms]} if study.arms else {})


def _note_applied(connection: Connection, study: Study, method: Assigner) -> None:
    set_fact(connection, "strata", _strata(method))
    set_fact(connection, "applied", _said(study, method))


def _ranks(method: Assigner) -> bool:
    """Whether it asks for the tasks that tell most."""
    return isinstance(method, Proposer)


def _row(method: Assigner, study: Study, one: NewTask, picture: int | None) -> dict[str, Any]:
    queue = None if one.practice else one.stratum if isinstance(method, Strata) else ""
    return {
        "id": new_id(),
        "name": one.name,
        "kind": one.kind,
        "text": one.text,
        "text2": one.text2,
        "media_id": picture,
        "stratum": one.stratum,
        "practice": int(one.practice),
        "gold": one.gold,
        "quota": 0 if one.practice else study.per_task,
        "given": 0,
        "queue": queue,
        "rank": draws.rng.random(),
        "gain": UNASKED if _ranks(method) and not one.practice else None,
    }


def _refuse_known(connection: Connection, names: Sequence[str], known: set[str] | None) -> None:
    """Refuse names that are there already, by those we know or, where these are not all, by asking the store."""
    twice = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if known is not None:
        twice += sorted(known.intersection(names))
        known.update(names)
    else:
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
        row = {"name": name, "given": 0, "queue": "", "rank": draws.rng.random()}
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


def count_tasks(connection: Connection) -> int:
    """How many tasks there are, practice not counted."""
    return connection.execute(select(func.count()).where(tasks.c.practice == 0)).scalar_one()


def kind_of(connection: Connection) -> str:
    """What the first task is: image, audio, text or pair; empty where there is none."""
    return connection.execute(select(tasks.c.kind).order_by(tasks.c.name).limit(1)).scalar() or ""
