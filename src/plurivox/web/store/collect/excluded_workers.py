"""Exclude workers while a study runs: their answers are kept but not counted, their slots are released; owners can undo it.

Nothing is deleted. After an exclusion is lifted the answers are used as late ones, since others may have filled the slots.
"""

from dataclasses import dataclass

from sqlalchemy import Connection, func, insert, select, update

from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.collect.leases import (
    end_lease_and_release_unanswered_slots,
    release_one_slot_and_requeue_each_task,
)
from plurivox.web.store.collect.sittings_and_leased_slots import SITTING_COLUMNS, Sitting
from plurivox.web.store.collect.submissions import AnsweredSlot
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotFound
from plurivox.web.store.report import answer_counters, result_snapshots
from plurivox.web.store.report.worker_scores_and_flags import (
    delete_scores_and_flags_of_worker,
    fetch_page_by_descending_key,
)
from plurivox.web.store.schema import answers, exclusions, plans, sittings, slots, visits, workers

QUIZ_RULE = "comprehension"


@dataclass(frozen=True)
class Exclusion:
    """The exclusion of a worker: who, when, by which rule, and for what reason."""

    exclusion: str  # its id
    worker: str  # the pseudonym
    rule: str
    reason: str
    at: float
    lifted: float | None  # when an owner lifted it


@dataclass(frozen=True)
class ExclusionPage:
    """One page of the list of excluded workers, with the cursor of the next page."""

    exclusions: list[Exclusion]
    next: str | None


def exclude_if_active_and_release_slots(connection: Connection, worker: int, rule: str, reason: str) -> bool:
    """Exclude a worker: end the leases, release the slots, stop counting the answers; False if the worker is not active."""
    this = update(workers).where(workers.c.id == worker, workers.c.status == "active")
    pseudonym = connection.execute(this.values(status="excluded").returning(workers.c.pseudonym)).scalar()
    if pseudonym is None:
        return False
    answer_counters.subtract_worker_answers_from_counters(connection, worker)
    for row in connection.execute(select(*SITTING_COLUMNS).where(sittings.c.worker_id == worker)).all():
        _end_lease_or_requeue_batch_if_fully_answered(connection, Sitting.from_row(row))
    of_worker = (slots.c.worker_id == worker) & (slots.c.kind != "practice")
    counted = select(slots.c.task_id).where(of_worker, slots.c.number.is_not(None))
    released = connection.execute(counted).scalars().all()
    answered = update(slots).where(of_worker, slots.c.state.in_(("done", "extra")))
    connection.execute(answered.values(state="excluded", number=None))
    release_one_slot_and_requeue_each_task(connection, released)
    connection.execute(insert(exclusions).values(worker_id=worker, rule=rule, reason=reason, at=current_unix_time()))
    answer_counters.add_worker_answers_to_counters(connection, worker)
    if _has_submitted_any_answer(connection, worker):  # else no result depends on this worker
        delete_scores_and_flags_of_worker(connection, worker)
        result_snapshots.mark_latest_result_snapshot_stale(connection)
    append_to_audit_log(connection, "rules", "exclude", worker=pseudonym, rule=rule, reason=reason, slots=len(released))
    return True


def _has_submitted_any_answer(connection: Connection, worker_id: int) -> bool:
    """Return whether a worker has submitted an answer."""
    return connection.execute(select(answers.c.id).where(answers.c.worker_id == worker_id).limit(1)).first() is not None


def _end_lease_or_requeue_batch_if_fully_answered(connection: Connection, sitting_of_excluded_worker: Sitting) -> None:
    """End the lease of an excluded worker's sitting; put its fixed batch back into the queue if it was fully answered."""
    leased = select(func.count()).where(slots.c.sitting_id == sitting_of_excluded_worker.id, slots.c.state == "leased")
    if connection.execute(leased).scalar_one():
        end_lease_and_release_unanswered_slots(connection, sitting_of_excluded_worker.id)
    elif (
        sitting_of_excluded_worker.plan_id is not None and sitting_of_excluded_worker.all_slots_answered
    ):  # an expired one is in the queue already
        batch = update(plans).where(plans.c.id == sitting_of_excluded_worker.plan_id)
        connection.execute(batch.values(given=plans.c.given - 1, queue=""))


def link_answer_of_excluded_worker_to_slot(connection: Connection, slot: AnsweredSlot, answer_id: int) -> None:
    """Store the answer of a worker who was excluded before submitting it as the slot's answer; it is not counted."""
    this = update(slots).where(slots.c.id == slot.id)
    connection.execute(this.values(answer_id=answer_id, state="excluded", number=None))
    if slot.number is not None:  # leased by one server while another excluded the worker
        release_one_slot_and_requeue_each_task(connection, [slot.task_id])


def count_failed_quiz_tries_unless_reinstated(connection: Connection, worker: int) -> int | None:
    """Return how often a worker has failed the quiz; None for a reinstated worker, who may try again without limit."""
    lifted = select(exclusions.c.id).where(exclusions.c.worker_id == worker, exclusions.c.lifted.is_not(None))
    if connection.execute(lifted.limit(1)).first() is not None:
        return None
    failed = select(func.count()).where(visits.c.worker_id == worker, visits.c.stage == "quiz")
    return connection.execute(failed).scalar_one()


def exclude_worker_if_quiz_failed_too_often(connection: Connection, worker: int, max_tries: int) -> bool:
    """Exclude a worker who failed the quiz `max_tries` times (0: no limit) and was never reinstated; return whether so."""
    n = count_failed_quiz_tries_unless_reinstated(connection, worker)
    if not max_tries or n is None or n < max_tries:
        return False
    return exclude_if_active_and_release_slots(
        connection, worker, QUIZ_RULE, f"failed the quiz {n} times; the limit is {max_tries}"
    )


# ---- owners


def lift_exclusion(connection: Connection, audit_actor: str, pseudonym: str) -> None:
    """Reinstate an excluded worker: the answers are used, as late; no rule excludes the worker again. NotFound if none."""
    this = update(workers).where(workers.c.pseudonym == pseudonym, workers.c.status == "excluded")
    worker = connection.execute(this.values(status="active").returning(workers.c.id)).scalar()
    if worker is None:
        raise NotFound("excluded worker")
    answer_counters.subtract_worker_answers_from_counters(connection, worker)
    excluded = update(slots).where(slots.c.worker_id == worker, slots.c.state == "excluded")
    connection.execute(excluded.where(slots.c.kind == "task").values(state="extra"))
    connection.execute(excluded.values(state="done"))  # repeats, which never count for a quota
    not_lifted = exclusions.c.worker_id == worker, exclusions.c.lifted.is_(None)
    ended = update(exclusions).where(*not_lifted).values(lifted=current_unix_time()).returning(exclusions.c.rule)
    if QUIZ_RULE in connection.execute(ended).scalars().all():  # the worker may try the quiz once more
        connection.execute(update(workers).where(workers.c.id == worker).values(stage="quiz"))
    answer_counters.add_worker_answers_to_counters(connection, worker)
    if _has_submitted_any_answer(connection, worker):
        result_snapshots.mark_latest_result_snapshot_stale(connection)
    append_to_audit_log(connection, audit_actor, "exclusion lifted", worker=pseudonym)


def pseudonyms_of_reinstated_workers(connection: Connection) -> set[str]:
    """Return the pseudonyms of workers whose exclusion an owner has lifted."""
    query = select(workers.c.pseudonym).join(exclusions, exclusions.c.worker_id == workers.c.id)
    return set(connection.execute(query.where(exclusions.c.lifted.is_not(None))).scalars())


def get_page_of_exclusions(connection: Connection, after: str | None, limit: int) -> ExclusionPage:
    """Return one page of excluded workers, the newest exclusion first; `after` is the cursor from the page before."""
    columns = (exclusions.c.id, workers.c.pseudonym, exclusions.c.rule, exclusions.c.reason, exclusions.c.at)
    query = select(*columns, exclusions.c.lifted).join(workers, workers.c.id == exclusions.c.worker_id)
    rows, next_cursor = fetch_page_by_descending_key(connection, query, exclusions.c.id, after, limit)
    return ExclusionPage([Exclusion(str(row[0]), *row[1:]) for row in rows], next_cursor)
