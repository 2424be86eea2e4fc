"""A worker submits an answer: check it, save it, count it.

An answer sent twice with one key is saved once; an answer after the end of its lease is saved, as an extra if its task is full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection

from plurivox.core.questions import Question
from plurivox.web.services.worker_stages import advance_stage
from plurivox.web.store.collect.excluded_workers import attach_uncounted_answer
from plurivox.web.store.collect.leases import lease_slot_again
from plurivox.web.store.collect.sittings import Sitting, Slot, unanswered_slots
from plurivox.web.store.collect.submissions import (
    AnsweredSlot,
    Mark,
    Submission,
    count_answers,
    find_answer_by_key,
    insert_answer,
    lock_slot,
    mark_answered,
)
from plurivox.web.store.collect.workers import Worker, move_to_end
from plurivox.web.store.errors import Conflict, Invalid, NotFound
from plurivox.web.study import question_forms
from plurivox.web.study.config import Study

HUNDRED = Decimal(100)
TICK_MEANINGS = {  # which labels a form has ticks for, by the kind of its ticks
    "never": "impossible labels, not possible ones",
    "possible": "possible labels, not impossible ones",
    None: "no other labels",
}
MAX_ANSWERS = 100  # answers to one slot, replaced ones counted


@dataclass(frozen=True)
class SubmitResult:
    """The result of submitting an answer: the worker and sitting after it, and the next slots."""

    worker: Worker
    sitting: Sitting
    again: bool = False  # the same answer was submitted before
    extra: bool = False
    ahead: Sequence[Slot] = ()  # the next slots


def submit_answer(
    connection: Connection, study: Study, worker: int, submission: Submission, ahead: int = 0
) -> SubmitResult:
    """Check and save an answer; return the worker and sitting after it, and the next `ahead` slots.

    Raise Invalid if the answer contradicts itself or its form, Conflict if its key came with another answer or the slot has
    `MAX_ANSWERS` answers. A late answer is saved.
    """
    slot = lock_slot(connection, submission.slot, worker)
    study = study.config_of_arm(slot.worker.arm)  # with the form of the worker's arm
    form = form_of_answer(study, submission)
    check_answer(study, form, submission)
    earlier = find_answer_by_key(connection, worker, submission.key)
    if earlier is not None:
        if earlier.slot != slot.id or not earlier.equals(submission):
            raise Conflict("key-used", "another answer was sent with this key; make a new key for every answer")
        following = unanswered_slots(connection, slot.sitting.id, ahead)
        return SubmitResult(slot.worker, slot.sitting, again=True, extra=earlier.extra, ahead=following)
    replaces = _answer_to_replace(connection, slot, submission)
    if slot.worker.status == "excluded":  # saved but not counted; the study ends for this worker
        attach_uncounted_answer(
            connection, slot, insert_answer(connection, slot, submission, form, replaces, extra=True)
        )
        return SubmitResult(move_to_end(connection, slot.worker), slot.sitting, extra=True)
    late = slot.state == "expired" and not lease_slot_again(connection, slot.id, slot.task_id, slot.kind)
    extra = late or slot.state == "extra"
    answer = insert_answer(connection, slot, submission, form, replaces, extra)
    sitting = mark_answered(connection, slot, answer, extra, study.lease_seconds)
    person = slot.worker
    if sitting is not None and sitting.is_over and _completes_stage(study, slot):
        person = advance_stage(connection, study, person)
    return SubmitResult(
        person, sitting or slot.sitting, extra=extra, ahead=unanswered_slots(connection, slot.sitting.id, ahead)
    )


def _answer_to_replace(connection: Connection, slot: AnsweredSlot, submission: Submission) -> int | None:
    """Return the id of the answer that a submission replaces; None if there is none.

    Raise NotFound if the slot has no answer with the key `replaces`, Conflict if the slot has `MAX_ANSWERS` answers.
    """
    replaces = slot.answer_id
    if submission.replaces is not None:
        found = find_answer_by_key(connection, slot.worker.id, submission.replaces)
        if found is None or found.slot != slot.id:
            raise NotFound("answer to replace")
        replaces = found.id
    if slot.answer_id is not None and count_answers(connection, slot.id) >= MAX_ANSWERS:
        raise Conflict("too-often", f"this task was answered {MAX_ANSWERS} times already; the last answer is kept")
    return replaces


def _completes_stage(study: Study, slot: AnsweredSlot) -> bool:
    """Return whether completing the sitting of a slot completes the worker's stage."""
    if slot.sitting.number == 0:
        return slot.worker.stage == "practice"
    return slot.worker.stage == "tasks" and slot.sitting.number >= study.sittings


# ---- check an answer


def form_of_answer(study: Study, submission: Submission) -> str:
    """Return the form of `elicit` that reads a submission: the study's, or the histogram if the page showed bars."""
    return question_forms.elicit_form(study.form, bars=submission.mode == "histogram")


def check_answer(study: Study, form: str, submission: Submission) -> None:
    """Raise Invalid if an answer contradicts itself, or does not fit `form`, by which it is read."""
    known = set(study.labels)
    marked = [mark.label for mark in submission.marks]
    if unknown := [label for label in (*marked, *submission.label_order) if label not in known]:
        raise Invalid(f"{unknown[0]!r} is not a label of this study; reload the page")
    if len(set(marked)) < len(marked):
        raise Invalid("a label is marked twice; mark each label once")
    if submission.abstain and submission.none_of_these:
        raise Invalid("choose either 'cannot tell' or 'none of these', not both")
    if submission.abstain or submission.none_of_these:
        if submission.marks:
            raise Invalid("an answer of 'cannot tell' or 'none of these' cannot mark labels")
        return
    named = [mark for mark in submission.marks if mark.kind == "named"]
    if not named:
        raise Invalid("choose a label, or say that you cannot tell")
    _check_marks(question_forms.question_type_of_form(form), submission.marks, named)
    if study.form == question_forms.CHIPS and any(Decimal(mark.typed) * study.chips % HUNDRED for mark in named):
        raise Invalid(f"a chip is worth {100 // study.chips} percent; every percent must be a multiple of it")


def _check_marks(asks: Question, marks: Sequence[Mark], named: Sequence[Mark]) -> None:
    """Raise Invalid if a form with these questions cannot produce these marks; `named` are the named ones.

    Imported answers are not checked here: the forms of `elicit` repair the same errors and flag the answer.
    """
    has_wrong_ticks = any(mark.kind not in ("named", asks.ticks) for mark in marks)
    too_many = asks.labels == 1 and len(named) > 1
    if not asks.percents and (too_many or has_wrong_ticks or any(mark.typed for mark in named)):
        what = "one label" if asks.labels == 1 else "labels in order"
        raise Invalid(f"this form takes {what}, without percents or other marks")
    if asks.percents and asks.labels is None:
        if has_wrong_ticks or not all(mark.typed for mark in named):
            raise Invalid("give every label of the histogram a percent")
        if _sum_percents(named) != HUNDRED:
            raise Invalid("the percents must add up to 100")
    if too_many:
        raise Invalid("this form takes one label with a percent")
    if has_wrong_ticks:
        raise Invalid(f"this form has ticks for {TICK_MEANINGS[asks.ticks]}")
    if asks.labels == 2 and len(named) > 2:
        raise Invalid("this form takes at most two labels")
    if _sum_percents(named) > HUNDRED:
        raise Invalid("the percents add up to more than 100; lower one of them")


def _sum_percents(named: Sequence[Mark]) -> Decimal:
    """Return the exact sum of the typed percents; raise Invalid if one is above 100."""
    values = [Decimal(mark.typed) for mark in named if mark.typed]
    if any(value > HUNDRED for value in values):
        raise Invalid("every percent must be between 0 and 100")
    return sum(values, Decimal(0))
