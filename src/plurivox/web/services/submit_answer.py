"""A worker submits an answer: check it, write it down, count it.

The same key twice is one answer; one that comes after its lease is kept, as an extra where its task is full meanwhile.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection

from plurivox.core.questions import Question
from plurivox.web.services.stages import advance
from plurivox.web.store.collect.excluded_workers import keep_aside
from plurivox.web.store.collect.leases import reopen
from plurivox.web.store.collect.sittings import Sitting, Slot, open_slots
from plurivox.web.store.collect.submissions import (
    AnsweredSlot,
    Mark,
    Submission,
    add_answer,
    answer_with_key,
    count_answers,
    mark_answered,
    slot_to_answer,
)
from plurivox.web.store.collect.workers import Worker, go_to_end
from plurivox.web.store.errors import Conflict, Invalid, NotFound
from plurivox.web.study import question_forms
from plurivox.web.study.config import Study

HUNDRED = Decimal(100)
TICKS = {  # what a form marks, by what its ticks say
    "never": "what is impossible, not what is possible",
    "possible": "what is possible, not what is impossible",
    None: "no other labels",
}
MAX_ANSWERS = 100  # answers to one slot, replaced ones counted


@dataclass(frozen=True)
class Taken:
    """What became of an answer."""

    worker: Worker
    sitting: Sitting
    again: bool = False  # it had come before
    extra: bool = False
    ahead: Sequence[Slot] = ()  # the next slots


def submit_answer(connection: Connection, study: Study, worker: int, said: Submission, ahead: int = 0) -> Taken:
    """Save an answer, and return what became of it.

    Raise Invalid for what it says, Conflict for a key that came with another answer or for the 101st answer to a slot; one
    that comes late is kept.
    """
    slot = slot_to_answer(connection, said.slot, worker)
    study = study.in_arm(slot.worker.arm)  # as this person is asked
    form = form_of(study, said)
    check_answer(study, form, said)
    earlier = answer_with_key(connection, worker, said.key)
    if earlier is not None:
        if earlier.slot != slot.id or not earlier.says(said):
            raise Conflict("key-used", "another answer came with this key; make a new key for every answer")
        following = open_slots(connection, slot.sitting.id, ahead)
        return Taken(slot.worker, slot.sitting, again=True, extra=earlier.extra, ahead=following)
    replaces = _replaced(connection, slot, said)
    if slot.worker.status == "excluded":  # kept, not counted, and the end
        keep_aside(connection, slot, add_answer(connection, slot, said, form, replaces, extra=True))
        return Taken(go_to_end(connection, slot.worker), slot.sitting, extra=True)
    late = slot.state == "expired" and not reopen(connection, slot.id, slot.task_id, slot.kind)
    extra = late or slot.state == "extra"
    answer = add_answer(connection, slot, said, form, replaces, extra)
    sitting = mark_answered(connection, slot, answer, extra, study.lease_seconds)
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
    if slot.answer_id is not None and count_answers(connection, slot.id) >= MAX_ANSWERS:
        raise Conflict("too-often", f"this task was answered {MAX_ANSWERS} times; what was said last stays")
    return replaces


def _is_last(study: Study, slot: AnsweredSlot) -> bool:
    """Whether the end of a slot's sitting ends the stage."""
    if slot.sitting.number == 0:
        return slot.worker.stage == "practice"
    return slot.worker.stage == "tasks" and slot.sitting.number >= study.sittings


# ---- what an answer may say


def form_of(study: Study, said: Submission) -> str:
    """The form of `elicit` that reads an answer: the study's, or a histogram where the page showed bars."""
    return question_forms.elicit_form(study.form, bars=said.mode == "histogram")


def check_answer(study: Study, form: str, said: Submission) -> None:
    """Raise Invalid where an answer contradicts itself, or `form`, which reads it, cannot have made it."""
    known = set(study.labels)
    marked = [mark.label for mark in said.marks]
    if strangers := [label for label in (*marked, *said.label_order) if label not in known]:
        raise Invalid(f"{strangers[0]!r} is no label of this study")
    if len(set(marked)) < len(marked):
        raise Invalid("a label is marked twice")
    if said.abstain and said.none_of_these:
        raise Invalid("an answer either cannot tell or says none of these")
    if said.abstain or said.none_of_these:
        if said.marks:
            raise Invalid("an answer without a label has no marks")
        return
    named = [mark for mark in said.marks if mark.kind == "named"]
    if not named:
        raise Invalid("name a label, or say that you cannot tell")
    _check_marks(question_forms.question(form), said.marks, named)
    if study.form == question_forms.CHIPS and any(Decimal(mark.typed) * study.chips % HUNDRED for mark in named):
        raise Invalid(f"a chip is worth {100 // study.chips} percent, and chips stay whole")


def _check_marks(asks: Question, marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    """Raise Invalid where a form that asks for this cannot have made these marks.

    Imported answers do not pass here: for them the forms of `elicit` mend the same faults and flag the answer.
    """
    has_strange_ticks = any(mark.kind not in ("named", asks.ticks) for mark in marks)
    one_alone = asks.labels == 1 and len(named) > 1
    if not asks.percents and (one_alone or has_strange_ticks or any(mark.typed for mark in named)):
        what = "one label is asked for" if asks.labels == 1 else "a ranking names labels in order"
        raise Invalid(f"{what}, and nothing else")
    if asks.percents and asks.labels is None:
        if has_strange_ticks or not all(mark.typed for mark in named):
            raise Invalid("every label of a histogram has a percent")
        if _percents(named) != HUNDRED:
            raise Invalid("the percents must add up to 100")
    if one_alone:
        raise Invalid("one label is asked for, with a percent")
    if has_strange_ticks:
        raise Invalid(f"this form marks {TICKS[asks.ticks]}")
    if asks.labels == 2 and len(named) > 2:
        raise Invalid("at most two labels are named")
    if _percents(named) > HUNDRED:
        raise Invalid("percents add up to more than 100")


def _percents(named: Sequence[Mark]) -> Decimal:
    """The sum of what was typed, exactly."""
    values = [Decimal(mark.typed) for mark in named if mark.typed]
    if any(value > HUNDRED for value in values):
        raise Invalid("a percent is between 0 and 100")
    return sum(values, Decimal(0))
