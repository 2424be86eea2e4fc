"""Answers: appended, never changed. The same key twice is one answer; a late one is kept as an extra."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from plurivox.web.api.worker_schemas import GiveAnswer, Mark
from plurivox.web.services.validate_answer import check_answer, form_of
from plurivox.web.store.collect.drafts import THROW
from plurivox.web.store.collect.excluded_workers import keep_aside
from plurivox.web.store.collect.leases import NEXT, NEXT_OPEN, retake
from plurivox.web.store.collect.workers import Worker, advance, go_to_end
from plurivox.web.store.database import now
from plurivox.web.store.errors import Conflict, Forbidden, NotFound
from plurivox.web.store.ids import number_of
from plurivox.web.store.schema import answers, drafts, sittings, slots, workers
from plurivox.web.study.config import Study

MOST = 100  # answers to one slot, replaced ones counted
HERE = (
    select(slots, sittings.c.number.label("sitting_number"), sittings.c.total, sittings.c.done, sittings.c.until)
    .add_columns(workers.c.pseudonym, workers.c.seed, workers.c.stage, workers.c.status, workers.c.arm)
    .add_columns(drafts.c.slot_id.label("draft_of"))
    .select_from(slots.join(sittings, sittings.c.id == slots.c.sitting_id))
    .join(workers, workers.c.id == slots.c.worker_id)
    .outerjoin(drafts, drafts.c.worker_id == slots.c.worker_id)
    .where(slots.c.id == bindparam("slot"), slots.c.worker_id == bindparam("worker"))
    .with_for_update(of=slots)  # two servers: one after the other, the second sees what the first did
)
BY_KEY = (
    select(answers.c.id, answers.c.slot_id, answers.c.marks, answers.c.extra)
    .add_columns(answers.c.abstain, answers.c.none_of_these)
    .where(answers.c.worker_id == bindparam("worker"), answers.c.key == bindparam("key"))
)
FIRST = (
    update(slots)
    .where(slots.c.id == bindparam("slot"), slots.c.state == "leased")
    .values(state="done", answer_id=bindparam("answer"))
)
AGAIN = update(slots).where(slots.c.id == bindparam("slot")).values(answer_id=bindparam("answer"))


@dataclass(frozen=True)
class Taken:
    """What became of an answer."""

    worker: Worker
    again: bool
    extra: bool
    sitting: Any  # number, total, done
    ahead: Any = ()  # rows of the next slots


def take(connection: Connection, study: Study, worker: int, body: GiveAnswer) -> Taken:
    """Write an answer down. It is refused for what it says, or as the 101st word on a task, never for when it comes."""
    here = connection.execute(HERE, {"slot": number_of(body.slot), "worker": worker}).first()
    if here is None:
        raise NotFound("slot")
    if here.status == "erased":
        raise Forbidden("withdrawn", "you have withdrawn from this study; your answers are gone")
    person = Worker(worker, here.pseudonym, here.seed, here.stage, here.status, here.arm)
    if study.arms:  # only here is known how this person is asked
        study = study.in_arm(here.arm)
        check_answer(study, body)
    earlier = connection.execute(BY_KEY, {"worker": worker, "key": body.key}).first()
    if earlier is not None:
        if earlier.slot_id != here.id or not _same(earlier, body):
            raise Conflict("key-used", "another answer came with this key; make a new key for every answer")
        sitting = (here.sitting_number, here.total, here.done)
        return Taken(person, True, bool(earlier.extra), sitting, _ahead(connection, here.sitting_id, body.ahead))
    replaces = _replaced(connection, worker, here, body)
    if here.answer_id is not None:
        _refuse_flood(connection, here.id)
    if here.status == "excluded":
        return _set_aside(connection, here, person, _row(study, here, body, replaces, extra=True))
    extra = here.state == "extra" or (here.state == "expired" and not _back(connection, here))
    answer = connection.execute(insert(answers).values(_row(study, here, body, replaces, extra))).inserted_primary_key
    assert answer is not None
    if here.draft_of == here.id:
        connection.execute(THROW, {"worker": worker})
    sitting, person = _count(connection, study, here, person, answer[0], extra)
    return Taken(person, False, extra, sitting, _ahead(connection, here.sitting_id, body.ahead))


def _set_aside(connection: Connection, here: Any, person: Worker, row: dict[str, Any]) -> Taken:
    """Of somebody who has been left out: kept, not counted, and the end."""
    answer = connection.execute(insert(answers).values(row)).inserted_primary_key
    assert answer is not None
    if here.draft_of == here.id:
        connection.execute(THROW, {"worker": person.id})
    keep_aside(connection, here, answer[0])
    return Taken(go_to_end(connection, person), False, True, (here.sitting_number, here.total, here.done))


def _refuse_flood(connection: Connection, slot: int) -> None:
    """Every word on a task is kept, so that somebody who never stops changing theirs would fill the disk."""
    if connection.execute(select(func.count()).where(answers.c.slot_id == slot)).scalar_one() >= MOST:
        raise Conflict("too-often", f"this task was answered {MOST} times; what was said last stays")


def _replaced(connection: Connection, worker: int, here: Any, body: GiveAnswer) -> int | None:
    if body.replaces is None:
        return here.answer_id
    found = connection.execute(BY_KEY, {"worker": worker, "key": body.replaces}).first()
    if found is None or found.slot_id != here.id:
        raise NotFound("answer to replace")
    return found.id


def _back(connection: Connection, here: Any) -> bool:
    """Whether an expired slot counts again: its task is still open, or it never counted."""
    if here.kind == "task":
        return retake(connection, here.id, here.task_id)
    connection.execute(update(slots).where(slots.c.id == here.id).values(state="leased"))
    return True


def _row(study: Study, here: Any, body: GiveAnswer, replaces: int | None, extra: bool) -> dict[str, Any]:
    return {
        "worker_id": here.worker_id,
        "key": body.key,
        "slot_id": here.id,
        "task_id": here.task_id,
        "received": now(),
        "form": form_of(study, body),
        "marks": _marks(body.marks),
        "abstain": int(body.abstain),
        "none_of_these": int(body.none_of_these),
        "extra": int(extra),
        "replaces": replaces,
        "shown_at": body.shown_at,
        "first_input_ms": body.first_input_ms,
        "submitted_ms": body.submitted_ms,
        "hidden_ms": body.hidden_ms,
        "mode": body.mode,
        "label_order": json.dumps(body.label_order or [], ensure_ascii=False),
        "events": json.dumps([one.model_dump() for one in body.events], ensure_ascii=False),
    }


def _count(
    connection: Connection, study: Study, here: Any, person: Worker, answer: int, extra: bool
) -> tuple[Any, Worker]:
    """The slot is done: one step further, and perhaps out of the sitting."""
    place = {"slot": here.id, "answer": answer}
    if extra and here.state != "extra":
        connection.execute(update(slots).where(slots.c.id == here.id).values(state="extra", answer_id=answer))
    elif not connection.execute(FIRST, place).rowcount:
        connection.execute(AGAIN, place)
        return (here.sitting_number, here.total, here.done), person
    values: dict[str, Any] = {"done": sittings.c.done + 1}
    if here.until is not None and here.until - now() < study.lease_minutes * 45:  # three quarters of it, in seconds
        values["until"] = now() + study.lease_minutes * 60
    this = update(sittings).where(sittings.c.id == here.sitting_id)
    done, total = connection.execute(this.values(values).returning(sittings.c.done, sittings.c.total)).one()
    whole = done >= total
    if whole:
        connection.execute(this.values(until=None))
    if whole and _last(study, here, person):
        person = advance(connection, study, person)
    return (here.sitting_number, total, done), person


def _last(study: Study, here: Any, person: Worker) -> bool:
    """Whether a whole sitting ends the stage."""
    if here.sitting_number == 0:
        return person.stage == "practice"
    return person.stage == "tasks" and here.sitting_number >= study.sittings


def _ahead(connection: Connection, sitting: int, n: int) -> Any:
    return connection.execute(NEXT_OPEN, {"sitting": sitting, "n": n}).all() if n else ()


def _same(earlier: Any, body: GiveAnswer) -> bool:
    """Whether an answer says what an earlier one said."""
    aside = bool(earlier.abstain), bool(earlier.none_of_these)
    return earlier.marks == _marks(body.marks) and aside == (body.abstain, body.none_of_these)


def _marks(marks: list[Mark]) -> str:
    return json.dumps([[one.kind, one.label, one.typed] for one in marks], ensure_ascii=False)


def mine(connection: Connection, worker: int, n: int) -> list[tuple[Any, Any]]:
    """(answer, slot) of this person's latest sitting, the latest first."""
    latest = select(sittings.c.id).where(sittings.c.worker_id == worker).order_by(sittings.c.number.desc()).limit(1)
    held = (
        select(answers.c.id, answers.c.key, answers.c.marks, answers.c.abstain, answers.c.none_of_these)
        .add_columns(slots.c.id.label("slot"))
        .select_from(slots.join(answers, answers.c.id == slots.c.answer_id))
        .where(slots.c.worker_id == worker, slots.c.sitting_id == latest.scalar_subquery())
        .order_by(slots.c.position.desc())
        .limit(n)
    )
    rows = connection.execute(held).all()
    shown = {row.id: row for row in connection.execute(NEXT.where(slots.c.id.in_([row.slot for row in rows])))}
    return [(row, shown[row.slot]) for row in rows]
