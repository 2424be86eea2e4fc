"""A worker submits an answer: check it, write it down, count it.

The same key twice is one answer; one that comes after its lease is kept, as an extra where its task is full meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from plurivox.web.services.stages import advance
from plurivox.web.services.validate_answer import check_answer, form_of
from plurivox.web.store.collect.excluded_workers import keep_aside
from plurivox.web.store.collect.leases import reopen
from plurivox.web.store.collect.sittings import Sitting, Slot, open_slots
from plurivox.web.store.collect.submissions import (
    AnsweredSlot,
    Submission,
    add_answer,
    answer_with_key,
    count_answer,
    count_answers,
    slot_to_answer,
)
from plurivox.web.store.collect.workers import Worker, go_to_end
from plurivox.web.store.errors import Conflict, NotFound
from plurivox.web.study.config import Study

MOST = 100  # answers to one slot, replaced ones counted


@dataclass(frozen=True)
class Taken:
    """What became of an answer."""

    worker: Worker
    sitting: Sitting
    again: bool = False  # it had come before
    extra: bool = False
    ahead: Sequence[Slot] = ()  # the next slots


def submit_answer(connection: Connection, study: Study, worker: int, said: Submission, ahead: int = 0) -> Taken:
    """Write an answer down. It is refused for what it says, or as the 101st word on a task, never for when it comes."""
    slot = slot_to_answer(connection, said.slot, worker)
    study = study.in_arm(slot.worker.arm)  # as this person is asked
    check_answer(study, said)
    earlier = answer_with_key(connection, worker, said.key)
    if earlier is not None:
        if earlier.slot != slot.id or not earlier.says(said):
            raise Conflict("key-used", "another answer came with this key; make a new key for every answer")
        following = open_slots(connection, slot.sitting.id, ahead)
        return Taken(slot.worker, slot.sitting, again=True, extra=earlier.extra, ahead=following)
    replaces = _replaced(connection, slot, said)
    form = form_of(study, said)
    if slot.worker.status == "excluded":  # kept, not counted, and the end
        keep_aside(connection, slot, add_answer(connection, slot, said, form, replaces, extra=True))
        return Taken(go_to_end(connection, slot.worker), slot.sitting, extra=True)
    late = slot.state == "expired" and not reopen(connection, slot.id, slot.task_id, slot.kind)
    extra = late or slot.state == "extra"
    answer = add_answer(connection, slot, said, form, replaces, extra)
    sitting = count_answer(connection, slot, answer, extra, study.lease_seconds)
    person = slot.worker
    if sitting is not None and sitting.is_over and _is_last(study, slot):
        person = advance(connection, study, person)
    return Taken(person, sitting or slot.sitting, extra=extra, ahead=open_slots(connection, slot.sitting.id, ahead))


def _replaced(connection: Connection, slot: AnsweredSlot, said: Submission) -> int | None:
    """The answer that this one puts right; raise Conflict where a slot has too many: they would fill the disk."""
    replaces = slot.answer_id
    if said.replaces is not None:
        found = answer_with_key(connection, slot.worker.id, said.replaces)
        if found is None or found.slot != slot.id:
            raise NotFound("answer to replace")
        replaces = found.id
    if slot.answer_id is not None and count_answers(connection, slot.id) >= MOST:
        raise Conflict("too-often", f"this task was answered {MOST} times; what was said last stays")
    return replaces


def _is_last(study: Study, slot: AnsweredSlot) -> bool:
    """Whether the end of a slot's sitting ends the stage."""
    if slot.sitting.number == 0:
        return slot.worker.stage == "practice"
    return slot.worker.stage == "tasks" and slot.sitting.number >= study.sittings
