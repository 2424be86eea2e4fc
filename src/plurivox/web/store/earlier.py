"""Answers that were given elsewhere, put into a study as if they had been given here."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
from sqlalchemy import Connection, insert, select, update

from plurivox.core.answers import KINDS, Answers
from plurivox.core.errors import InputError, some
from plurivox.web.keys import Keys, new_id
from plurivox.web.store import tallying
from plurivox.web.store.database import now
from plurivox.web.store.items import AT_ONCE, batched
from plurivox.web.store.tables import answers, sittings, slots, tasks, workers
from plurivox.web.study import Study

KIND = {code: name for name, code in KINDS.items()}


def add_answers(connection: Connection, study: Study, keys: Keys, given: Answers, pick: float = 0.0) -> int:
    """Workers, sittings, slots and answers; those beyond a task's quota are extras. How many answers.

    `pick`: the share of the time after which a first label was picked, where that is to be made up, as in the demo.
    """
    if study.arms:
        raise InputError("answers from elsewhere belong to no arm; import them into a study that asks in one form")
    held = _tasks(connection, given)
    people = _people(connection, keys, given)
    seated = _sittings(connection, given, people)
    slot_rows, answer_rows = [], []
    first: dict[int, int] = {}  # place of an answer: its slot
    names = given.tasks.tolist()
    for i in range(len(given)):
        task, worker = held[names[given.task[i]]], people[int(given.worker[i])]
        repeat = -1 if given.repeat_of is None else int(given.repeat_of[i])
        task["given"] += repeat < 0
        counts = repeat < 0 and task["given"] <= task["quota"]
        first[i] = new_id()
        state = "done" if counts or repeat >= 0 else "extra"
        slot_rows.append(
            {"id": first[i], "sitting_id": seated[i], "worker_id": worker, "task_id": task["id"]}
            | {"number": task["given"] if counts else None, "kind": "task" if repeat < 0 else "repeat"}
            | {"position": _at(given.position, i, i + 1), "repeat_of": first.get(repeat), "state": state}
        )
        answer_rows.append(
            {"worker_id": worker, "key": f"import-{i}", "slot_id": first[i], "task_id": task["id"]}
            | _said(study, given, i, pick)
            | {"extra": int(state == "extra")}
        )
    for table, rows in ((slots, slot_rows), (answers, answer_rows)):
        for part in batched(rows, AT_ONCE):
            connection.execute(insert(table), part)
    latest = select(answers.c.id).where(answers.c.slot_id == slots.c.id).scalar_subquery()
    connection.execute(
        update(slots).where(slots.c.answer_id.is_(None), slots.c.state != "leased").values(answer_id=latest)
    )
    for task in held.values():
        n = min(task["given"], task["quota"])
        values = {"given": n, **({"queue": None} if n >= task["quota"] else {})}
        connection.execute(update(tasks).where(tasks.c.id == task["id"]).values(values))
    tallying.count_anew(connection)
    return len(given)


def _tasks(connection: Connection, given: Answers) -> dict[Any, dict[str, Any]]:
    names, found = {str(name): name for name in given.tasks.tolist()}, {}
    for part in batched(names, 500):
        wanted = select(tasks.c.id, tasks.c.name, tasks.c.quota, tasks.c.given).where(tasks.c.name.in_(part))
        for row in connection.execute(wanted):
            found[names[row.name]] = row._asdict()
    if strangers := [name for name in names.values() if name not in found]:
        raise InputError(f"the study has no tasks {some(strangers)}; add them first")
    return found


def _people(connection: Connection, keys: Keys, given: Answers) -> dict[int, int]:
    """code -> worker; who came once before stays the same."""
    made, rows = {}, []
    for code, name in enumerate(given.workers.tolist()):
        pseudonym = keys.pseudonym(f"import {name}")
        known = connection.execute(select(workers.c.id).where(workers.c.pseudonym == pseudonym)).scalar()
        if known is not None:
            raise InputError(f"answers of worker {name!r} are there already")
        made[code] = new_id()
        row = {"id": made[code], "pseudonym": pseudonym, "seed": code, "stage": "done", "status": "active"}
        rows.append({**row, "born": now(), "seen": now()})
    if rows:
        connection.execute(insert(workers), rows)
    return made


def _sittings(connection: Connection, given: Answers, people: dict[int, int]) -> Sequence[int]:
    """The sitting of every answer."""
    names = given.sitting if given.sitting is not None else np.full(len(given), "")
    seen: dict[tuple[int, str], list[int]] = {}
    for i, (worker, name) in enumerate(zip(given.worker.tolist(), names.tolist(), strict=True)):
        seen.setdefault((worker, str(name)), []).append(i)
    numbers: dict[int, int] = {}
    seated = [0] * len(given)
    for (worker, _), places in seen.items():
        numbers[worker] = numbers.get(worker, 0) + 1
        row = {"worker_id": people[worker], "number": numbers[worker], "total": len(places), "done": len(places)}
        key = connection.execute(insert(sittings).values(**row, begun=now(), until=None)).inserted_primary_key
        assert key is not None
        for i in places:
            seated[i] = key[0]
    return seated


def _said(study: Study, given: Answers, i: int, pick: float) -> dict[str, Any]:
    here = slice(given.mark_start[i], given.mark_start[i + 1])
    marks = zip(given.mark_kind[here].tolist(), given.mark_label[here].tolist(), given.mark_typed[here], strict=True)
    said = [[KIND[kind], str(given.labels[label]), str(typed)] for kind, label, typed in marks]
    seconds = _at(given.seconds, i, None)
    ms = None if seconds is None or seconds != seconds else seconds * 1000
    events = []
    if pick and ms is not None and said:
        label, by = said[0][1], "key"
        events = [{"seq": 0, "ms": round(pick * ms), "kind": "pick", "label": label, "value": None, "by": by}]
    return {
        "received": _at(given.when, i, now()),
        "form": str(_at(given.form, i, study.form)),
        "marks": json.dumps(said, ensure_ascii=False),
        "abstain": int(_at(given.abstain, i, False)),
        "none_of_these": int(_at(given.none_of_these, i, False)),
        "first_input_ms": round(pick * ms) if pick and ms is not None else None,
        "submitted_ms": ms,
        "hidden_ms": 0.0,
        "mode": "",
        "label_order": "[]",
        "events": json.dumps(events, ensure_ascii=False),
    }


def _at(column: Any, i: int, otherwise: Any) -> Any:
    if column is None:
        return otherwise
    value = column[i]
    return value.item() if hasattr(value, "item") else value
