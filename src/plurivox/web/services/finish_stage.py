"""A worker finishes a page: consent, instructions, quiz, debrief; or does not want to wait for more tasks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from plurivox.web.services.next_tasks import unless_full
from plurivox.web.services.stages import Standing, WrongStage, advance, standing_of
from plurivox.web.store.collect.excluded_workers import failed_too_often
from plurivox.web.store.collect.sittings import answered_by, latest_sitting
from plurivox.web.store.collect.workers import Stage, Worker, go_to_end, record_visit, worker_of
from plurivox.web.store.errors import Conflict, Invalid
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class StageFinished:
    """Where the worker stands now, with the questions of the quiz that were not answered rightly."""

    standing: Standing
    wrong: Sequence[int] = ()


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
        raise WrongStage(standing_of(connection, person))
    said: dict[str, Any] = {"comment": comment} if comment else {}
    if stage == "consent" and agreed is not True:
        raise Invalid("to take part you must agree; to decline, just close the page")
    if stage == "quiz":
        if wrong := wrong_choices(study, quiz or ()):
            record_visit(connection, person, ms, quiz=quiz, wrong=wrong)
            if failed_too_often(connection, worker, study.exclude.quiz_tries):
                return StageFinished(standing_of(connection, go_to_end(connection, worker_of(connection, worker))))
            return StageFinished(standing_of(connection, person), wrong)
        said["quiz"] = quiz
    if stage == "tasks":
        _must_be_idle(connection, person)
    person = unless_full(connection, study, advance(connection, study, person, ms=ms, **said))
    return StageFinished(standing_of(connection, person))


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
