"""The stages of a worker: consent, instructions, quiz, practice, tasks, debrief, done."""

from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection

from plurivox.web.store.collect.sittings import Sitting, latest_sitting
from plurivox.web.store.collect.tasks import practice_tasks
from plurivox.web.store.collect.workers import STAGES, Worker, record_visit, set_stage, worker_of
from plurivox.web.store.errors import Conflict
from plurivox.web.store.study_state import State, state_of
from plurivox.web.study.config import Study


@dataclass(frozen=True)
class Standing:
    """Where a worker stands."""

    worker: Worker
    state: State  # of the study
    sitting: Sitting | None  # the latest one


class WrongStage(Conflict):
    """The page is not up to date: it is told where the person stands."""

    def __init__(self, standing: Standing) -> None:
        super().__init__("wrong-stage", f"you are at the stage {standing.worker.stage!r}")
        self.standing = standing


def standing_of(connection: Connection, worker: Worker) -> Standing:
    """Where a worker stands, with the latest sitting."""
    return Standing(worker, state_of(connection), latest_sitting(connection, worker.id))


def my_standing(connection: Connection, worker: int) -> Standing:
    """The same by a worker's id."""
    return standing_of(connection, worker_of(connection, worker))


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
