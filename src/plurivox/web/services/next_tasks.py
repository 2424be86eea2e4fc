"""The next tasks of a worker: the open slots of the current sitting, or a new sitting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from plurivox.web.services.unanswered_lease_limit import UnansweredLeaseLimit
from plurivox.web.services.worker_stages import (
    WrongStage,
    current_stage_study_state_and_sitting,
    record_visit_and_move_to_next_stage,
)
from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.collect import sittings_and_leased_slots
from plurivox.web.store.collect.arms import get_pool_of_open_tasks_for_worker
from plurivox.web.store.collect.leases import (
    end_lease_and_release_unanswered_slots,
    end_some_overdue_leases_and_return_count,
    lease_again_and_return_expired_sitting,
)
from plurivox.web.store.collect.sittings_and_leased_slots import (
    Sitting,
    Slot,
    Waiting,
    count_answered_slots_without_practice,
    find_wait_and_poll_times_for_next_task,
    get_latest_sitting,
)
from plurivox.web.store.collect.submissions import Draft, get_draft_of_worker
from plurivox.web.store.collect.workers import (
    Worker,
    get_worker,
    move_excluded_worker_to_last_stage,
    move_worker_without_task_to_last_stage,
)
from plurivox.web.store.study_state import require_open_study
from plurivox.web.study.assigner_from_config import build_assigner_by_whether_batches_exist
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class NextTasks:
    """The task slots that a worker answers next; if there are none, when tasks may become open or the worker's new stage."""

    worker: Worker
    sitting: Sitting | None
    slots: Sequence[Slot] = ()  # the next unanswered ones
    waiting: Waiting | None = None  # no task is open, but leases of others may expire
    draft: Draft | None = None


def get_or_lease_next_task_slots(connection: Connection, study: Study, worker: int, max_slots: int) -> NextTasks:
    """Return the next unanswered task slots leased to a worker, at most `max_slots`; may begin a new sitting.

    Raise WrongStage if the worker is not at a stage with tasks, Conflict if the study is not open.
    """
    person = get_worker(connection, worker)
    if person.stage not in ("practice", "tasks"):
        raise WrongStage(current_stage_study_state_and_sitting(connection, person))
    if person.status == "excluded":
        return NextTasks(move_excluded_worker_to_last_stage(connection, person), None)
    require_open_study(connection, study.texts.closed)
    found = _next_unanswered_slots_or_begin_sitting_or_advance_stage(connection, study, person, max_slots)
    if person.stage == "practice" and found.worker.stage == "tasks":  # practice is over: begin the first sitting
        found = _next_unanswered_slots_or_begin_sitting_or_advance_stage(connection, study, found.worker, max_slots)
    return replace(found, draft=get_draft_of_worker(connection, worker))


def _next_unanswered_slots_or_begin_sitting_or_advance_stage(
    connection: Connection, study: Study, worker: Worker, max_slots: int
) -> NextTasks:
    """Return the open slots of the current sitting; begin a new sitting if that one is complete, or move the worker to the
    next stage if no task is left."""
    sitting = _get_latest_sitting_and_lease_again_if_expired(connection, study, worker)
    if isinstance(sitting, Waiting):
        return NextTasks(worker, None, waiting=sitting)
    if sitting is None and worker.stage == "practice":
        sitting = sittings_and_leased_slots.begin_practice_sitting(
            connection, worker.id, study.practice, study.lease_seconds
        )
    elif worker.stage != "practice" and (sitting is None or sitting.all_slots_answered):
        number = 0 if sitting is None else sitting.number
        done = (
            number >= study.sittings
            and sittings_and_leased_slots.count_nonpractice_sittings_with_answer(connection, worker.id)
            >= study.sittings
        )
        begun = None if done else _begin_sitting_or_none_if_no_open_task(connection, study, worker, number + 1)
        if isinstance(begun, Waiting):
            return NextTasks(worker, sitting, waiting=begun)
        if begun is None:
            return _return_waiting_time_or_leave_task_stage(connection, study, worker, sitting, done)
        sitting = begun
    assert sitting is not None
    found = sittings_and_leased_slots.hand_out_first_unanswered_slots(connection, sitting.id, max_slots)
    if not found:
        return NextTasks(record_visit_and_move_to_next_stage(connection, study, worker), sitting)
    return NextTasks(worker, sitting, found)


def _get_latest_sitting_and_lease_again_if_expired(
    connection: Connection, study: Study, worker: Worker
) -> Sitting | Waiting | None:
    """Return the latest sitting of a worker, leased again if its lease had ended; how long the worker waits if too many slots
    are leased before the first answer. If the sitting is complete, lock the worker's row, so that of two concurrent requests
    one begins a new sitting and the other continues it."""
    sitting = get_latest_sitting(connection, worker.id)
    if sitting is not None and sitting.is_lease_overdue:  # the background job has not ended it yet
        sitting = get_latest_sitting(connection, worker.id, lock=True)
        if sitting is not None and sitting.is_lease_overdue:
            end_lease_and_release_unanswered_slots(connection, sitting.id)
            sitting = get_latest_sitting(connection, worker.id)
    if sitting is not None and sitting.lease_ended_with_unanswered_slots:
        sitting = get_latest_sitting(connection, worker.id, lock=True)
        if (
            sitting is not None and sitting.lease_ended_with_unanswered_slots
        ):  # not resumed by another server in the meantime
            if sitting.is_before_first_answer:
                waiting = UnansweredLeaseLimit(connection, study, worker).wait_if_exceeded(sitting.total)
                if waiting is not None:
                    return waiting
            sitting = lease_again_and_return_expired_sitting(connection, sitting, _first_lease_seconds(study, sitting))
    if sitting is None or sitting.all_slots_answered:
        sittings_and_leased_slots.lock_worker_row(connection, worker.id)
        sitting = get_latest_sitting(connection, worker.id)
    return sitting


def _first_lease_seconds(study: Study, sitting: Sitting) -> float:
    """Return for how long a sitting is leased until its next answer: briefly, but practice takes no tasks from others."""
    return study.lease_seconds if sitting.number == 0 else study.first_answer_seconds


def _begin_sitting_or_none_if_no_open_task(
    connection: Connection, study: Study, worker: Worker, sitting_number: int
) -> Sitting | Waiting | None:
    """Begin and return a sitting of tasks not yet assigned to a worker, with a short lease before its first answer.

    None if no such task is open; how long the worker waits if too many slots are leased before the first answer.
    """
    end_some_overdue_leases_and_return_count(connection)
    limit = UnansweredLeaseLimit(connection, study, worker)
    pool = get_pool_of_open_tasks_for_worker(connection, worker, study.weight_by_arm_name)
    chosen = (
        build_assigner_by_whether_batches_exist(connection, study).assign_session(
            pool, unpredictable_random_generator.rng
        )
        if pool
        else []
    )
    if pool is None or not chosen:
        return None
    return limit.wait_if_exceeded(len(chosen)) or sittings_and_leased_slots.begin_sitting_and_count_slots_as_given(
        connection, worker.id, sitting_number, chosen, pool, study.first_answer_seconds
    )


def _return_waiting_time_or_leave_task_stage(
    connection: Connection, study: Study, worker: Worker, sitting: Sitting | None, all_sittings_done: bool
) -> NextTasks:
    """Let a worker without open tasks wait for others' leases; else move the worker to the next or last stage."""
    waiting = None if all_sittings_done else find_wait_and_poll_times_for_next_task(connection, worker)
    if waiting is not None:
        return NextTasks(worker, sitting, waiting=waiting)
    answered = all_sittings_done or count_answered_slots_without_practice(connection, worker.id)
    return NextTasks(
        record_visit_and_move_to_next_stage(connection, study, worker)
        if answered
        else move_worker_without_task_to_last_stage(connection, worker),
        sitting,
    )
