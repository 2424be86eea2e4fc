"""The next tasks of a worker: the open slots of the current sitting, or a new sitting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlalchemy import Connection

from plurivox.web.services.worker_stages import WrongStage, advance_stage, current_stage
from plurivox.web.store import random_generator
from plurivox.web.store.collect import sittings
from plurivox.web.store.collect.arms import pool_for_worker
from plurivox.web.store.collect.leases import end_overdue_leases, renew_lease, resume_sitting
from plurivox.web.store.collect.sittings import (
    Sitting,
    Slot,
    Waiting,
    count_tasks_answered,
    find_next_lease_end,
    latest_sitting,
)
from plurivox.web.store.collect.submissions import Draft, get_draft
from plurivox.web.store.collect.workers import Worker, get_worker, move_to_last_stage, turn_away
from plurivox.web.store.study_state import require_open_study
from plurivox.web.study.assigner_from_config import load_assigner
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class NextTasks:
    """The task slots that a worker answers next; if there are none, when tasks may become open or the worker's new stage."""

    worker: Worker
    sitting: Sitting | None
    slots: Sequence[Slot] = ()  # the next unanswered ones
    waiting: Waiting | None = None  # no task is open, but leases of others may expire
    draft: Draft | None = None


def next_tasks(connection: Connection, study: Study, worker: int, max_slots: int) -> NextTasks:
    """Return the next unanswered task slots leased to a worker, at most `max_slots`; may begin a new sitting.

    Raise WrongStage if the worker is not at a stage with tasks, Conflict if the study is not open.
    """
    person = get_worker(connection, worker)
    if person.stage not in ("practice", "tasks"):
        raise WrongStage(current_stage(connection, person))
    if person.status == "excluded":
        return NextTasks(move_to_last_stage(connection, person), None)
    require_open_study(connection, study.texts.closed)
    found = _next_unanswered_slots_or_begin_sitting_or_advance_stage(connection, study, person, max_slots)
    if person.stage == "practice" and found.worker.stage == "tasks":  # practice is over: begin the first sitting
        found = _next_unanswered_slots_or_begin_sitting_or_advance_stage(connection, study, found.worker, max_slots)
    return replace(found, draft=get_draft(connection, worker))


def _next_unanswered_slots_or_begin_sitting_or_advance_stage(
    connection: Connection, study: Study, worker: Worker, max_slots: int
) -> NextTasks:
    """Return the open slots of the current sitting; begin a new sitting if that one is complete, or move the worker to the
    next stage if no task is left."""
    sitting = _get_latest_sitting_and_lease_again_if_expired(connection, study, worker)
    if sitting is None and worker.stage == "practice":
        sitting = sittings.begin_practice_sitting(connection, worker.id, study.practice, study.lease_seconds)
    elif worker.stage != "practice" and (sitting is None or sitting.all_slots_answered):
        number = 0 if sitting is None else sitting.number
        done = number >= study.sittings and sittings.count_answered_sittings(connection, worker.id) >= study.sittings
        begun = None if done else _begin_sitting_or_none_if_no_open_task(connection, study, worker, number + 1)
        if begun is None:
            return _wait_for_lease_end_or_leave_task_stage(connection, study, worker, sitting, done)
        sitting = begun
    assert sitting is not None
    found = sittings.unanswered_slots(connection, sitting.id, max_slots)
    if not found:
        return NextTasks(advance_stage(connection, study, worker), sitting)
    if sitting.needs_lease_renewal(study.lease_seconds):
        renew_lease(connection, sitting.id, study.lease_seconds)
    return NextTasks(worker, sitting, found)


def _get_latest_sitting_and_lease_again_if_expired(
    connection: Connection, study: Study, worker: Worker
) -> Sitting | None:
    """Return the latest sitting of a worker, leased again if its lease had ended. If it is complete, lock the worker's row, so
    that of two concurrent requests one begins a new sitting and the other continues it."""
    sitting = latest_sitting(connection, worker.id)
    if sitting is not None and sitting.has_expired:
        sitting = latest_sitting(connection, worker.id, lock=True)
        if sitting is not None and sitting.has_expired:  # not resumed by another server in the meantime
            sitting = resume_sitting(connection, sitting, study.lease_seconds)
    if sitting is None or sitting.all_slots_answered:
        sittings.lock_worker(connection, worker.id)
        sitting = latest_sitting(connection, worker.id)
    return sitting


def _begin_sitting_or_none_if_no_open_task(
    connection: Connection, study: Study, worker: Worker, sitting_number: int
) -> Sitting | None:
    """Begin and return a sitting of tasks not yet assigned to a worker; None if no such task is open."""
    end_overdue_leases(connection)
    pool = pool_for_worker(connection, worker, study.arm_weights)
    chosen = load_assigner(connection, study).assign_session(pool, random_generator.rng) if pool else []
    if pool is None or not chosen:
        return None
    return sittings.begin_sitting(connection, worker.id, sitting_number, chosen, pool, study.lease_seconds)


def _wait_for_lease_end_or_leave_task_stage(
    connection: Connection, study: Study, worker: Worker, sitting: Sitting | None, all_sittings_done: bool
) -> NextTasks:
    """Let a worker without open tasks wait for others' leases; else move the worker to the next or last stage."""
    waiting = None if all_sittings_done else find_next_lease_end(connection, worker)
    if waiting is not None:
        return NextTasks(worker, sitting, waiting=waiting)
    answered = all_sittings_done or count_tasks_answered(connection, worker.id)
    return NextTasks(advance_stage(connection, study, worker) if answered else turn_away(connection, worker), sitting)
