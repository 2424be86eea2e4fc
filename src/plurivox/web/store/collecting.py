"""Answers out of the store, as the noun that every room reads."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from plurivox.core.answers import Answers
from plurivox.core.names import TEXT, Bools, Floats, Ints
from plurivox.web.store.tables import answers, sittings, slots, tasks, workers
from plurivox.web.study import Study

AT_ONCE = 2_000
EVERY = (
    select(answers, slots.c.kind, slots.c.position, slots.c.repeat_of, slots.c.answer_id.label("latest"))
    .add_columns(tasks.c.name.label("task"), workers.c.pseudonym.label("worker"), sittings.c.number.label("sitting"))
    .add_columns(workers.c.arm)
    .select_from(answers.join(slots, slots.c.id == answers.c.slot_id))
    .join(tasks, tasks.c.id == answers.c.task_id)
    .join(workers, workers.c.id == answers.c.worker_id)
    .join(sittings, sittings.c.id == slots.c.sitting_id)
    .order_by(answers.c.id)
)
COUNTED = EVERY.where(slots.c.answer_id == answers.c.id, slots.c.kind != "practice")


@dataclass(frozen=True)
class Collected:
    """The last word of every slot, practice left out, and what the noun has no column for."""

    answers: Answers
    ids: Ints  # (n,) in the store
    task_ids: Ints  # (n,)
    extra: Bools  # (n,) came after its lease, when the task was full
    first_input: Floats  # (n,) seconds after it was shown, nan where unknown
    top_label: Floats  # (n,) seconds until the first label was picked
    hidden: Floats  # (n,) seconds in which the page was not seen
    unseen: Bools  # (n,) its picture did not load


def rows(connection: Connection, every: bool = False) -> Iterator[Any]:
    """Answers in the order they came: those that count, or every one, replaced and practice too."""
    yield from connection.execution_options(yield_per=AT_ONCE).execute(EVERY if every else COUNTED)


def collect(connection: Connection, study: Study, cell: Callable[[str], str] = str) -> Collected:
    """All answers that count; `cell` is how names are written."""
    found = list(rows(connection))
    place = {row.slot_id: i for i, row in enumerate(found)}
    marks = [[(kind, cell(label), typed) for kind, label, typed in json.loads(row.marks)] for row in found]
    labels = dict.fromkeys([cell(label) for label in study.labels])
    labels |= dict.fromkeys(label for answer in marks for _, label, _ in answer)  # some may have been taken out since
    made = Answers.of(
        [cell(row.task) for row in found],
        [row.worker for row in found],
        marks,
        labels=list(labels),
        form=np.array([row.form for row in found], dtype=TEXT),
        abstain=np.array([row.abstain for row in found], bool),
        none_of_these=np.array([row.none_of_these for row in found], bool),
        when=np.array([row.received for row in found], np.float64),
        seconds=np.array([active(row) for row in found], np.float64),
        position=np.array([row.position for row in found], np.int64),
        sitting=np.array([f"{row.worker}-{row.sitting}" for row in found], dtype=TEXT),
        repeat_of=np.array([place.get(row.repeat_of, -1) if row.repeat_of else -1 for row in found], np.int64),
    )
    return Collected(
        made,
        ids=np.array([row.id for row in found], np.int64),
        task_ids=np.array([row.task_id for row in found], np.int64),
        extra=np.array([row.extra for row in found], bool),
        first_input=np.array([_seconds(row.first_input_ms) for row in found], np.float64),
        top_label=np.array([_first_pick(row.events) for row in found], np.float64),
        hidden=np.array([_seconds(row.hidden_ms) for row in found], np.float64),
        unseen=np.array([is_unseen(row.events) for row in found], bool),
    )


def active(row: Any) -> float:
    """Seconds from shown to submitted in which the page was seen; nan where the client did not tell."""
    return float("nan") if row.submitted_ms is None else max(0.0, row.submitted_ms - row.hidden_ms) / 1000


def _seconds(ms: float | None) -> float:
    return float("nan") if ms is None else ms / 1000


def is_unseen(events: str) -> bool:
    """Whether the picture had not come when the answer was given."""
    if '"unseen"' not in events:
        return False
    return [one["kind"] for one in json.loads(events) if one["kind"] in ("seen", "unseen")][-1:] == ["unseen"]


def _first_pick(events: str) -> float:
    if events == "[]":
        return float("nan")
    return next((one["ms"] / 1000 for one in json.loads(events) if one["kind"] == "pick"), float("nan"))
