"""Move workers through the stages of a study: finish a stage, go to the next, turn away if no task is left."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from plurivox.web.store.collect.arms import get_pool_of_open_tasks_for_worker
from plurivox.web.store.collect.excluded_workers import (
    count_failed_quiz_tries_unless_reinstated,
    exclude_worker_if_quiz_failed_too_often,
)
from plurivox.web.store.collect.sittings_and_leased_slots import (
    Sitting,
    count_answered_slots_without_practice,
    find_wait_and_poll_times_for_next_task,
    get_latest_sitting,
)
from plurivox.web.store.collect.tasks_batches_quotas import practice_task_ids
from plurivox.web.store.collect.workers import (
    STAGES,
    Stage,
    Worker,
    get_worker,
    move_excluded_worker_to_last_stage,
    move_worker_without_task_to_last_stage,
    record_visit_to_current_stage,
    set_stage_if_still_at_old_stage,
)
from plurivox.web.store.errors import Conflict, Invalid
from plurivox.web.store.study_state import StudyState, get_study_state
from plurivox.web.study.assigner_from_config import build_assigner_by_whether_batches_exist
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class CurrentStage:
    """A worker, whose `stage` is the current one, with the state of the study and the worker's latest sitting."""

    worker: Worker
    state: StudyState  # of the study
    sitting: Sitting | None  # the latest one
    failed_quiz_tries: int | None = 0  # at the stage quiz; None: the worker was reinstated and has no limit

    @property
    def practice_is_over(self) -> bool:
        """Whether the worker has finished practice and not begun the first sitting of tasks that count."""
        return self.worker.stage == "tasks" and self.sitting is not None and self.sitting.number == 0


@dataclass(frozen=True)
class StageFinished:
    """The current stage of a worker after finishing a page, and the positions of quiz questions answered wrong."""

    current: CurrentStage
    wrong: Sequence[int] = ()


class WrongStage(Conflict):
    """The request is for another stage than the worker's; `current` is the worker's stage."""

    def __init__(self, current: CurrentStage) -> None:
        super().__init__("wrong-stage", "you are at another step of the study now; load this page again")
        self.current = current


def current_stage_study_state_and_sitting(connection: Connection, worker: Worker) -> CurrentStage:
    """Return a worker with the current stage, the state of the study, the latest sitting and the failed tries of the quiz."""
    failed = count_failed_quiz_tries_unless_reinstated(connection, worker.id) if worker.stage == "quiz" else 0
    return CurrentStage(worker, get_study_state(connection), get_latest_sitting(connection, worker.id), failed)


def record_visit_and_move_to_next_stage(
    connection: Connection, study: Study, worker: Worker, **visit_details: Any
) -> Worker:
    """Move a worker to the next stage and record the visit to the finished one with details; return the updated worker."""
    passed = STAGES[: STAGES.index(worker.stage) + 1]  # study.toml may have lost the worker's stage since
    following = next(stage for stage in study.list_stages() if stage not in passed)
    if following == "practice" and not practice_task_ids(connection):
        following = "tasks"
    if not set_stage_if_still_at_old_stage(connection, worker, following):
        return get_worker(connection, worker.id)  # another request has moved the worker already
    record_visit_to_current_stage(connection, worker, **visit_details)
    return replace(worker, stage=following)


def move_to_last_stage_if_no_task_left(connection: Connection, study: Study, worker: Worker) -> Worker:
    """Move a worker before the tasks to the last stage if no task is or may become open; return the updated worker."""
    if worker.stage in ("tasks", "debrief", "done") or get_study_state(connection) != "open":
        return worker
    pool = get_pool_of_open_tasks_for_worker(connection, worker, study.weight_by_arm_name, read_only=True)
    if pool and build_assigner_by_whether_batches_exist(connection, study).choose_session_tasks(pool):
        return worker
    return (
        worker
        if find_wait_and_poll_times_for_next_task(connection, worker)
        else move_worker_without_task_to_last_stage(connection, worker)
    )


# ---- finish a page


def finish_stage_unless_quiz_failed(
    connection: Connection,
    study: Study,
    worker: int,
    stage: Stage,
    *,
    agreed: bool | None = None,
    quiz: Sequence[int] | None = None,
    ms: float | None = None,
    comment: str | None = None,
) -> StageFinished:
    """Finish a worker's current stage and move to the next one; a failed quiz is repeated, or excludes after too many tries.

    Raise WrongStage if the worker is at another stage, Invalid without consent, Conflict if tasks are unanswered.
    """
    person = get_worker(connection, worker)
    if person.stage != stage or stage == "practice":
        raise WrongStage(current_stage_study_state_and_sitting(connection, person))
    detail: dict[str, Any] = {"comment": comment} if comment else {}
    if stage == "consent" and agreed is not True:
        raise Invalid("to take part you must agree; to decline, close the page")
    if stage == "quiz":
        if wrong := positions_of_wrong_quiz_answers(study, quiz or ()):
            record_visit_to_current_stage(connection, person, ms, quiz=quiz, wrong=wrong)
            if exclude_worker_if_quiz_failed_too_often(connection, worker, study.exclude.quiz_tries):
                return StageFinished(
                    current_stage_study_state_and_sitting(
                        connection, move_excluded_worker_to_last_stage(connection, get_worker(connection, worker))
                    )
                )
            return StageFinished(current_stage_study_state_and_sitting(connection, person), wrong)
        detail["quiz"] = quiz
    if stage == "tasks":
        _require_some_answers_and_none_missing(connection, person)
    person = move_to_last_stage_if_no_task_left(
        connection, study, record_visit_and_move_to_next_stage(connection, study, person, duration_ms=ms, **detail)
    )
    return StageFinished(current_stage_study_state_and_sitting(connection, person))


def positions_of_wrong_quiz_answers(study: Study, quiz_choices: Sequence[int]) -> list[int]:
    """Return the positions of the quiz questions answered wrong; raise Invalid if the number of answers differs."""
    if len(quiz_choices) != len(study.quiz):
        raise Invalid("the questions of the check have changed; load this page again and answer every question")
    return [place for place, one in enumerate(study.quiz) if quiz_choices[place] != one.right]


def _require_some_answers_and_none_missing(connection: Connection, worker: Worker) -> None:
    """Raise Conflict if a worker has unanswered tasks or has answered nothing."""
    sitting = get_latest_sitting(connection, worker.id)
    if sitting is not None and not sitting.all_slots_answered:
        raise Conflict("not-yet", "some of your tasks are not answered yet; answer them first")
    if not count_answered_slots_without_practice(connection, worker.id):
        raise Conflict(
            "full",
            "you have not answered any task yet, so you cannot finish; please wait for a task, or come back later",
        )
