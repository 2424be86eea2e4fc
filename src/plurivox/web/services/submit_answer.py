"""A worker submits an answer: check it, save it, count it.

An answer sent twice with one key is saved once; an answer after the end of its lease is saved, as late if its task is full.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from sqlalchemy import Connection

from plurivox.core.inputs_asked_by_form import Question
from plurivox.web.services.worker_stages import record_visit_and_move_to_next_stage
from plurivox.web.store.collect.excluded_workers import link_answer_of_excluded_worker_to_slot
from plurivox.web.store.collect.leases import lease_expired_slot_again_unless_task_full
from plurivox.web.store.collect.sittings_and_leased_slots import Sitting, Slot, hand_out_first_unanswered_slots
from plurivox.web.store.collect.submissions import (
    AnsweredSlot,
    Mark,
    Submission,
    count_all_answers_in_slot,
    find_answer_by_submission_key,
    insert_answer_and_delete_its_draft,
    lock_and_get_slot_with_sitting_and_worker,
    set_slot_answer_and_get_updated_sitting,
)
from plurivox.web.store.collect.workers import Worker, move_excluded_worker_to_last_stage
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
    """The result of submitting an answer: the updated worker and sitting, and the next slots to answer."""

    worker: Worker
    sitting: Sitting
    again: bool = False  # the same answer was submitted before
    extra: bool = False
    ahead: Sequence[Slot] = ()  # the next slots


def submit_answer(
    connection: Connection, study: Study, worker: int, submission: Submission, n_next_slots: int = 0
) -> SubmitResult:
    """Check and save a worker's answer; return the updated worker and sitting, and the next `n_next_slots` unanswered slots.

    Raise Invalid if the answer contradicts itself or its form, Conflict if its key came with another answer or the slot has
    `MAX_ANSWERS` answers. A late answer is saved.
    """
    slot = lock_and_get_slot_with_sitting_and_worker(connection, submission.slot, worker)
    study = study.config_of_arm(slot.worker.arm)  # with the form of the worker's arm
    form = elicit_form_name_of_answer(study, submission)
    raise_if_answer_is_invalid(study, form, submission)
    earlier = find_answer_by_submission_key(connection, worker, submission.key)
    if earlier is not None:
        if earlier.slot != slot.id or not earlier.has_same_marks_and_abstention(submission):
            raise Conflict(
                "key-used",
                "another answer was sent with the same key, so this one was not stored; answer the task again",
            )
        following = hand_out_first_unanswered_slots(connection, slot.sitting.id, n_next_slots)
        return SubmitResult(slot.worker, slot.sitting, again=True, extra=earlier.extra, ahead=following)
    replaces = _id_of_replaced_answer(connection, slot, submission)
    if slot.worker.status == "excluded":  # saved but not counted; the study ends for this worker
        link_answer_of_excluded_worker_to_slot(
            connection,
            slot,
            insert_answer_and_delete_its_draft(connection, slot, submission, form, replaces, extra=True),
        )
        return SubmitResult(move_excluded_worker_to_last_stage(connection, slot.worker), slot.sitting, extra=True)
    late = slot.state == "expired" and not lease_expired_slot_again_unless_task_full(
        connection, slot.id, slot.task_id, slot.kind
    )
    extra = late or slot.state == "extra"
    answer = insert_answer_and_delete_its_draft(connection, slot, submission, form, replaces, extra)
    is_practice = slot.sitting.number == 0
    lease_seconds = study.lease_seconds if is_practice else study.lease_seconds_after_answers(slot.sitting.done + 1)
    sitting = set_slot_answer_and_get_updated_sitting(connection, slot, answer, extra, lease_seconds)
    person = slot.worker
    if sitting is not None and sitting.all_slots_answered and _is_sitting_last_of_current_stage(study, slot):
        person = record_visit_and_move_to_next_stage(connection, study, person)
    return SubmitResult(
        person,
        sitting or slot.sitting,
        extra=extra,
        ahead=hand_out_first_unanswered_slots(connection, slot.sitting.id, n_next_slots),
    )


def _id_of_replaced_answer(connection: Connection, slot: AnsweredSlot, submission: Submission) -> int | None:
    """Return the id of the earlier answer that a submitted answer replaces; None if it replaces none.

    Raise NotFound if the slot has no answer with the key `replaces`, Conflict if the slot has `MAX_ANSWERS` answers.
    """
    replaces = slot.answer_id
    if submission.replaces is not None:
        found = find_answer_by_submission_key(connection, slot.worker.id, submission.replaces)
        if found is None or found.slot != slot.id:
            raise NotFound("answer to replace")
        replaces = found.id
    if slot.answer_id is not None and count_all_answers_in_slot(connection, slot.id) >= MAX_ANSWERS:
        raise Conflict("too-often", f"you have answered this task {MAX_ANSWERS} times; your last answer to it is kept")
    return replaces


def _is_sitting_last_of_current_stage(study: Study, slot: AnsweredSlot) -> bool:
    """Return whether the worker's stage (practice or tasks) ends when the sitting of this slot is complete."""
    if slot.sitting.number == 0:
        return slot.worker.stage == "practice"
    return slot.worker.stage == "tasks" and slot.sitting.number >= study.sittings


# ---- check an answer


def elicit_form_name_of_answer(study: Study, submission: Submission) -> str:
    """Return the name of the answer form that parses a submission: the study's, or histogram if the page showed bars."""
    return question_forms.elicit_form_name_of_study_form(study.form, answered_with_bars=submission.mode == "histogram")


def raise_if_answer_is_invalid(study: Study, form: str, submission: Submission) -> None:
    """Raise Invalid if a submitted answer contradicts itself, names unknown labels, or does not fit the answer form."""
    known = set(study.labels)
    marked = [mark.label for mark in submission.marks]
    if unknown := [label for label in (*marked, *submission.label_order) if label not in known]:
        raise Invalid(f"{unknown[0]!r} is not a label of this study; load the page again")
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
    _check_marks_fit_form(question_forms.labels_percents_and_ticks_of_form(form), submission.marks, named)
    if study.form == question_forms.CHIPS and any(Decimal(mark.typed) * study.chips % HUNDRED for mark in named):
        raise Invalid(f"a chip is worth {100 // study.chips} percent; every percent must be a multiple of it")


def _check_marks_fit_form(question: Question, marks: Sequence[Mark], named_marks: Sequence[Mark]) -> None:
    """Raise Invalid if the marked labels and percents of an answer cannot come from a form with this question.

    Imported answers are not checked here: the forms of `elicit` repair the same errors and flag the answer.
    """
    has_wrong_ticks = any(mark.kind not in ("named", question.ticks) for mark in marks)
    too_many = question.labels == 1 and len(named_marks) > 1
    if not question.percents and (too_many or has_wrong_ticks or any(mark.typed for mark in named_marks)):
        what = "one label" if question.labels == 1 else "labels in order"
        raise Invalid(f"this form takes {what}, without percents or other marks")
    if question.percents and question.labels is None:
        if has_wrong_ticks or not all(mark.typed for mark in named_marks):
            raise Invalid("give every label of the histogram a percent")
        if _exact_sum_of_typed_percents(named_marks) != HUNDRED:
            raise Invalid("the percents must add up to 100")
    if too_many:
        raise Invalid("this form takes one label with a percent")
    if has_wrong_ticks:
        raise Invalid(f"this form has ticks for {TICK_MEANINGS[question.ticks]}")
    if question.labels == 2 and len(named_marks) > 2:
        raise Invalid("this form takes at most two labels")
    if _exact_sum_of_typed_percents(named_marks) > HUNDRED:
        raise Invalid("the percents add up to more than 100; lower one of them")


def _exact_sum_of_typed_percents(named_marks: Sequence[Mark]) -> Decimal:
    """Return the exact sum of the percents typed for named labels; raise Invalid if one is above 100."""
    values = [Decimal(mark.typed) for mark in named_marks if mark.typed]
    if any(value > HUNDRED for value in values):
        raise Invalid("every percent must be between 0 and 100")
    return sum(values, Decimal(0))
