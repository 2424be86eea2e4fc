"""Submitted answers, which are append-only, and drafts, the unfinished answer of each worker, which never counts."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, Self

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from plurivox.web.store.collect.sittings_and_leased_slots import SITTING_COLUMNS, SLOTS_WITH_TASKS, Sitting, Slot
from plurivox.web.store.collect.workers import WORKER_COLUMNS, Worker, get_worker
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotFound
from plurivox.web.store.schema import answers, drafts, sittings, slots, workers

MarkKind = Literal["named", "never", "possible"]
SLOT_COLUMNS = (slots.c.id, slots.c.task_id, slots.c.number, slots.c.kind, slots.c.state, slots.c.answer_id)
SLOT_OF_WORKER = (
    select(*SLOT_COLUMNS, drafts.c.slot_id.label("draft_of"), *SITTING_COLUMNS, *WORKER_COLUMNS)
    .select_from(slots.join(sittings, sittings.c.id == slots.c.sitting_id))
    .join(workers, workers.c.id == slots.c.worker_id)
    .outerjoin(drafts, drafts.c.worker_id == slots.c.worker_id)
    .where(slots.c.id == bindparam("slot"), slots.c.worker_id == bindparam("worker"))
    .with_for_update(of=slots)  # a second server waits and sees the answer of the first
)
ANSWER_BY_KEY = (
    select(answers.c.id, answers.c.slot_id, answers.c.marks, answers.c.abstain, answers.c.none_of_these)
    .add_columns(answers.c.extra)
    .where(answers.c.worker_id == bindparam("worker"), answers.c.key == bindparam("key"))
)
CLOSE_LEASED_SLOT = (
    update(slots)
    .where(slots.c.id == bindparam("slot"), slots.c.state == "leased")
    .values(state="done", answer_id=bindparam("answer"))
)
SET_SLOT_ANSWER = update(slots).where(slots.c.id == bindparam("slot")).values(answer_id=bindparam("answer"))
LEASED_SLOT = select(slots.c.id).where(
    slots.c.id == bindparam("slot"), slots.c.worker_id == bindparam("worker"), slots.c.state == "leased"
)
DELETE_DRAFT = delete(drafts).where(drafts.c.worker_id == bindparam("worker"))


class Mark(NamedTuple):
    """A label that an answer names (in order, with the percent as typed), rules out ("never"), or marks as possible."""

    kind: MarkKind
    label: str  # empty in imported answers with a percent but no label
    typed: str = ""


def label_marks_to_json(marks: Iterable[Mark]) -> str:
    """Return the labels marked in one answer as JSON for the column `marks`: [[kind, label, typed percent], ...]."""
    return _to_json_with_unescaped_unicode(list(marks))


def label_marks_from_json(marks_json: str) -> list[Mark]:
    """Return the labels marked in one answer (named, ruled out or possible), parsed from the JSON of the column `marks`."""
    return label_marks_of_each_answer_from_json([marks_json])[0]


def label_marks_of_each_answer_from_json(marks_jsons: Sequence[str]) -> list[list[Mark]]:
    """Return the list of marked labels of each of many answers, parsed from one JSON text per answer."""
    return [[Mark(*one) for one in marks] for marks in json.loads(f"[{','.join(marks_jsons)}]")]


@dataclass(frozen=True)
class Submission:
    """An answer as the worker's browser sent it: slot, key, marked labels, times and events."""

    key: str  # made by the client; an answer sent twice with one key is stored once
    slot: int
    marks: Sequence[Mark] = ()
    abstain: bool = False
    none_of_these: bool = False
    replaces: str | None = None  # the key of an earlier answer that this one corrects
    shown_at: float | None = None
    first_input_ms: float | None = None
    submitted_ms: float | None = None
    hidden_ms: float = 0
    mode: str = ""
    label_order: Sequence[str] = ()
    events: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True)
class AnsweredSlot:
    """The slot that a submitted answer belongs to, with its sitting and its worker."""

    id: int
    task_id: int
    number: int | None
    kind: str  # task, repeat, practice
    state: str  # leased, done, expired, extra, excluded
    answer_id: int | None  # the latest answer
    has_draft: bool
    sitting: Sitting
    worker: Worker

    @classmethod
    def from_row(cls, row: Any) -> Self:
        """Create an AnsweredSlot (a slot with its sitting and worker) from a database row with the columns of all three."""
        slot = {column.name: row._mapping[column] for column in SLOT_COLUMNS}
        return cls(
            **slot,
            has_draft=row.draft_of == slot["id"],
            sitting=Sitting.from_row(row),
            worker=Worker.from_row(row),
        )


@dataclass(frozen=True)
class SavedAnswer:
    """An answer that a worker submitted earlier, as stored in the database."""

    id: int
    slot: int
    marks: Sequence[Mark]
    abstain: bool
    none_of_these: bool
    extra: bool

    def has_same_marks_and_abstention(self, submission: Submission) -> bool:
        """Return whether a submission has the same marked labels, abstain and none-of-these as this stored answer."""
        same_flags = (self.abstain, self.none_of_these) == (submission.abstain, submission.none_of_these)
        return same_flags and list(self.marks) == list(submission.marks)


@dataclass(frozen=True)
class OwnAnswer:
    """A worker's latest answer in a slot, together with the slot and its task, to show it to the worker again."""

    key: str
    marks: Sequence[Mark]
    abstain: bool
    none_of_these: bool
    slot: Slot


@dataclass(frozen=True)
class Draft:
    """An unfinished answer: the slot, and the JSON that the page stores."""

    slot: int
    body: str


def lock_and_get_slot_with_sitting_and_worker(connection: Connection, slot_id: int, worker_id: int) -> AnsweredSlot:
    """Lock and return a worker's slot; raise NotFound if it is not the worker's, Withdrawn if the worker was erased."""
    row = connection.execute(SLOT_OF_WORKER, {"slot": slot_id, "worker": worker_id}).first()
    if row is None:
        get_worker(connection, worker_id)  # raises Withdrawn: the slots of an erased worker are deleted
        raise NotFound("slot")
    return AnsweredSlot.from_row(row)


def find_answer_by_submission_key(connection: Connection, worker: int, submission_key: str) -> SavedAnswer | None:
    """Return the answer that a worker submitted with this key; None if there is none."""
    row = connection.execute(ANSWER_BY_KEY, {"worker": worker, "key": submission_key}).first()
    if row is None:
        return None
    flags = bool(row.abstain), bool(row.none_of_these), bool(row.extra)
    return SavedAnswer(row.id, row.slot_id, label_marks_from_json(row.marks), *flags)


def count_all_answers_in_slot(connection: Connection, slot_id: int) -> int:
    """Return how many answers a slot has, including replaced ones."""
    return connection.execute(select(func.count()).where(answers.c.slot_id == slot_id)).scalar_one()


def insert_answer_and_delete_its_draft(
    connection: Connection,
    slot: AnsweredSlot,
    submission: Submission,
    form: str,
    replaced_answer_id: int | None,
    extra: bool,
) -> int:
    """Insert a submitted answer and delete the worker's draft for its slot; return the id of the answer."""
    row = {
        "worker_id": slot.worker.id,
        "key": submission.key,
        "slot_id": slot.id,
        "task_id": slot.task_id,
        "received": current_unix_time(),
        "form": form,
        "marks": label_marks_to_json(submission.marks),
        "abstain": int(submission.abstain),
        "none_of_these": int(submission.none_of_these),
        "extra": int(extra),
        "replaces": replaced_answer_id,
        "shown_at": submission.shown_at,
        "first_input_ms": submission.first_input_ms,
        "submitted_ms": submission.submitted_ms,
        "hidden_ms": submission.hidden_ms,
        "mode": submission.mode,
        "label_order": _to_json_with_unescaped_unicode(list(submission.label_order)),
        "events": _to_json_with_unescaped_unicode(list(submission.events)),
    }
    answer = connection.execute(insert(answers).values(row)).inserted_primary_key
    assert answer is not None
    if slot.has_draft:
        connection.execute(DELETE_DRAFT, {"worker": slot.worker.id})
    return int(answer[0])


def set_slot_answer_and_get_updated_sitting(
    connection: Connection, slot: AnsweredSlot, answer_id: int, extra: bool, lease_seconds: float
) -> Sitting | None:
    """Set the latest answer of a slot; return the sitting with one more slot done, None if the slot was answered before."""
    params = {"slot": slot.id, "answer": answer_id}
    if extra and slot.state != "extra":
        connection.execute(update(slots).where(slots.c.id == slot.id).values(state="extra", answer_id=answer_id))
    elif not connection.execute(CLOSE_LEASED_SLOT, params).rowcount:
        connection.execute(SET_SLOT_ANSWER, params)
        return None
    values: dict[str, Any] = {"done": sittings.c.done + 1}
    if slot.sitting.needs_lease_renewal(lease_seconds):
        values["until"] = current_unix_time() + lease_seconds
    this = update(sittings).where(sittings.c.id == slot.sitting.id)
    done, total = connection.execute(this.values(values).returning(sittings.c.done, sittings.c.total)).one()
    sitting = replace(slot.sitting, done=done, total=total)
    if sitting.all_slots_answered:
        connection.execute(this.values(until=None))
    return sitting


def list_worker_answers_of_latest_sitting(connection: Connection, worker: int, max_answers: int) -> list[OwnAnswer]:
    """Return a worker's latest answer to each answered slot of the latest sitting, at most `max_answers`, last slot first."""
    latest = select(sittings.c.id).where(sittings.c.worker_id == worker).order_by(sittings.c.number.desc()).limit(1)
    answered = (
        select(answers.c.key, answers.c.marks, answers.c.abstain, answers.c.none_of_these, slots.c.id.label("slot"))
        .select_from(slots.join(answers, answers.c.id == slots.c.answer_id))
        .where(slots.c.worker_id == worker, slots.c.sitting_id == latest.scalar_subquery())
        .order_by(slots.c.position.desc())
        .limit(max_answers)
    )
    rows = connection.execute(answered).all()
    shown = {
        row.id: Slot.from_row(row)
        for row in connection.execute(SLOTS_WITH_TASKS.where(slots.c.id.in_([row.slot for row in rows])))
    }
    return [
        OwnAnswer(
            row.key, label_marks_from_json(row.marks), bool(row.abstain), bool(row.none_of_these), shown[row.slot]
        )
        for row in rows
    ]


def _to_json_with_unescaped_unicode(value: Any) -> str:
    """Return a value as JSON with non-ASCII characters unescaped."""
    return json.dumps(value, ensure_ascii=False)


# ---- drafts


def try_save_draft_in_leased_slot(connection: Connection, worker: int, draft: Draft) -> bool:
    """Save a worker's unfinished answer in place of the former draft; return False if its slot is answered or not leased."""
    if connection.execute(LEASED_SLOT, {"slot": draft.slot, "worker": worker}).first() is None:
        return False
    values = {"slot_id": draft.slot, "at": current_unix_time(), "body": draft.body}
    if not connection.execute(update(drafts).where(drafts.c.worker_id == worker).values(values)).rowcount:
        connection.execute(insert(drafts).values(worker_id=worker, **values))
    return True


def get_draft_of_worker(connection: Connection, worker: int) -> Draft | None:
    """Return the saved unfinished answer of a worker; None if there is none."""
    row = connection.execute(select(drafts.c.slot_id, drafts.c.body).where(drafts.c.worker_id == worker)).first()
    return None if row is None else Draft(*row)
