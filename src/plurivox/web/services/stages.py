"""The stages of a worker: a page is finished, and the worker goes on to the next stage."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from plurivox.web.store.collect.arms import pool_of
from plurivox.web.store.collect.excluded_workers import failed_too_often
from plurivox.web.store.collect.sittings import Sitting, answered_by, latest_sitting, waiting_of
from plurivox.web.store.collect.tasks import practice_tasks
from plurivox.web.store.collect.workers import (
    STAGES,
    Stage,
    Worker,
    go_to_end,
    record_visit,
    set_stage,
    turn_away,
    worker_of,
)
from plurivox.web.store.errors import Conflict, Invalid
from plurivox.web.store.study_state import State, state_of
from plurivox.web.study.assigner import load_assigner
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class CurrentStage:
    """The stage at which a worker is (in `worker`), with the state of the study and the worker's latest sitting."""

    worker: Worker
    state: State  # of the study
    sitting: Sitting | None  # the latest one


@dataclass(frozen=True)
class StageFinished:
    """The stage that a worker is at now, with the questions of the quiz that were not answered rightly."""

    current: CurrentStage
    wrong: Sequence[int] = ()


class WrongStage(Conflict):
    """The page is not up to date: it is told where the person stands."""

    def __init__(self, current: CurrentStage) -> None:
        super().__init__("wrong-stage", f"you are at the stage {current.worker.stage!r}")
        self.current = current


def current_stage(connection: Connection, worker: Worker) -> CurrentStage:
    """The stage of a worker, with the state of the study and the latest sitting."""
    return CurrentStage(worker, state_of(connection), latest_sitting(connection, worker.id))


def advance(connection: Connection, study: Study, worker: Worker, **about: Any) -> Worker:
    """Move a person into the stage after this one, and record the visit to the finished one with what was said there."""
    passed = STAGES[: STAGES.index(worker.stage) + 1]  # the study may have lost a stage since the person came into it
    following = next(stage for stage in study.stages() if stage not in passed)
    if following == "practice" and not practice_tasks(connection):
        following = "tasks"
    if not set_stage(connection, worker, following):
        return worker_of(connection, worker.id)  # another server was faster: one click, one step
    record_visit(connection, worker, **about)
    return replace(worker, stage=following)


def turn_away_if_full(connection: Connection, study: Study, worker: Worker) -> Worker:
    """Turn a person away to whom no task can be given, before they read and practise for nothing; the worker after that."""
    if worker.stage in ("tasks", "debrief", "done") or state_of(connection) != "open":
        return worker
    pool = pool_of(connection, worker, study.shares, looks=True)
    if pool and load_assigner(connection, study).choose(pool):
        return worker
    return worker if waiting_of(connection, worker) else turn_away(connection, worker)


# ---- a page is finished


def finish_stage(
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
    """Move a worker on to the next stage; a quiz with mistakes stays, until it was failed too often."""
    person = worker_of(connection, worker)
    if person.stage != stage or stage == "practice":
        raise WrongStage(current_stage(connection, person))
    said: dict[str, Any] = {"comment": comment} if comment else {}
    if stage == "consent" and agreed is not True:
        raise Invalid("to take part you must agree; to decline, just close the page")
    if stage == "quiz":
        if wrong := wrong_choices(study, quiz or ()):
            record_visit(connection, person, ms, quiz=quiz, wrong=wrong)
            if failed_too_often(connection, worker, study.exclude.quiz_tries):
                return StageFinished(current_stage(connection, go_to_end(connection, worker_of(connection, worker))))
            return StageFinished(current_stage(connection, person), wrong)
        said["quiz"] = quiz
    if stage == "tasks":
        _must_be_idle(connection, person)
    person = turn_away_if_full(connection, study, advance(connection, study, person, ms=ms, **said))
    return StageFinished(current_stage(connection, person))


def wrong_choices(study: Study, chosen: Sequence[int]) -> list[int]:
    """The places of the questions that were not answered rightly."""
    if len(chosen) != len(study.quiz):
        raise Invalid(f"the check has {len(study.quiz)} questions, and {len(chosen)} answers came")
    return [place for place, one in enumerate(study.quiz) if chosen[place] != one.right]


def _must_be_idle(connection: Connection, worker: Worker) -> None:
    """Only who has answered something, and has nothing left to answer, may go on without further tasks."""
    sitting = latest_sitting(connection, worker.id)
    if sitting is not None and not sitting.is_over:
        raise Conflict("not-yet", "some of your tasks are not answered yet")
    if not answered_by(connection, worker.id):
        raise Conflict("full", "you have answered nothing yet, so there is no completion code to go on to")
