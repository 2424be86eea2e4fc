"""The owner's preview of a study: all that a worker would see, without a worker, a lease or an answer in the database."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from sqlalchemy import Connection

from plurivox.core.answers import Answers
from plurivox.elicit import FLAGS, OUTCOMES
from plurivox.web.services.submit_answer import elicit_form_name_of_answer, raise_if_answer_is_invalid
from plurivox.web.services.worker_completion import Completion, Outcome, completion_of_outcome
from plurivox.web.services.worker_stages import CurrentStage
from plurivox.web.store import unpredictable_random_generator
from plurivox.web.store.collect.random_tasks import RandomTasks, get_name_and_content_by_task_id
from plurivox.web.store.collect.sittings_and_leased_slots import Sitting, Slot
from plurivox.web.store.collect.submissions import Mark, Submission
from plurivox.web.store.collect.tasks_batches_quotas import practice_task_ids
from plurivox.web.store.collect.workers import Worker
from plurivox.web.store.errors import NotFound
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.study.answer_flags import flag_meanings
from plurivox.web.study.assigner_from_config import build_assigner_by_whether_batches_exist
from plurivox.web.study.config import Study

MAX_TASKS = 100  # tasks of a sitting in the preview; a longer sitting is cut
NO_ID = 0  # ids in the database are never 0


@dataclass(frozen=True)
class PreviewTask:
    """A task of the preview: its place in the sitting, with its content, and its name, which workers do not see."""

    slot: Slot
    name: str


@dataclass(frozen=True)
class Preview:
    """What one worker of an arm would see: the state at each stage in order, practice tasks, one sitting, and the endings."""

    arm: str  # empty if the study has no arms
    stages: Sequence[CurrentStage]
    practice: Sequence[PreviewTask]
    tasks: Sequence[PreviewTask]  # at most MAX_TASKS, repeats included
    endings: Mapping[Outcome, Completion]


@dataclass(frozen=True)
class AnswerReading:
    """What an answer becomes: the probability of each label, whether the answer gives a vote, and flags."""

    form: str  # the form of `elicit` that reads the answer
    outcome: str  # one of OUTCOMES
    probabilities: Mapping[str, float]  # by label, only those above 0; empty unless the outcome is read
    flags: Sequence[str]  # what is odd about it, in sentences


def config_of_previewed_arm(study: Study, arm_name: str | None) -> tuple[str, Study]:
    """Return name and configuration of an arm, of the first one if `arm_name` is None; raise NotFound if there is none."""
    names = list(study.weight_by_arm_name)
    arm = (names or [""])[0] if arm_name is None else arm_name
    if arm not in (names or [""]):
        raise NotFound("arm")
    return arm, study.config_of_arm(arm)


def build_preview(connection: Connection, study: Study, arm_name: str | None = None) -> Preview:
    """Return all that a new worker would see, with tasks chosen at random by the study's assigner; only reads the database.

    Quotas, leases and the state of the study do not matter. Raise NotFound if there is no arm of this name.
    """
    arm, study = config_of_previewed_arm(study, arm_name)
    assigner = build_assigner_by_whether_batches_exist(connection, study)
    sitting = assigner.assign_session(RandomTasks(connection), unpredictable_random_generator.rng)
    practice = [(task, "practice") for task in practice_task_ids(connection)[: study.practice]]
    tasks = [(one.task, "repeat" if one.repeat else "task") for one in sitting[:MAX_TASKS]]
    return Preview(
        arm=arm,
        stages=_state_at_each_stage(study, arm, len(practice), len(sitting)),
        practice=_tasks_with_content(connection, practice),
        tasks=_tasks_with_content(connection, tasks),
        endings={outcome: completion_of_outcome(study, outcome) for outcome in get_args(Outcome)},
    )


def _state_at_each_stage(study: Study, arm: str, n_practice: int, n_tasks: int) -> list[CurrentStage]:
    """Return the state of one invented worker of an open study at each of its stages, before anything is answered there."""
    seed = unpredictable_random_generator.rng.getrandbits(31)  # of the order of labels
    worker = Worker(NO_ID, "preview", seed, "consent", "active", arm)
    practice, first = (
        Sitting(NO_ID, number, None, n, 0, begun=0.0, until=None) for number, n in ((0, n_practice), (1, n_tasks))
    )
    sittings = {"practice": practice, "tasks": first, "debrief": first, "done": first}
    return [CurrentStage(replace(worker, stage=stage), "open", sittings.get(stage)) for stage in study.list_stages()]


def _tasks_with_content(connection: Connection, places: Sequence[tuple[int, str]]) -> list[PreviewTask]:
    """Return the tasks with these ids and kinds (task, repeat, practice) in order, with content and an invented slot id."""
    contents = get_name_and_content_by_task_id(connection, [task for task, _ in places])
    return [
        PreviewTask(Slot(random_62_bit_id(), position, kind, contents[task].shown), contents[task].name)
        for position, (task, kind) in enumerate(places, start=1)
    ]


def read_answer_without_saving(study: Study, arm_name: str | None, submission: Submission) -> AnswerReading:
    """Check an answer like one that a worker of an arm submits, and return what it becomes; raise Invalid if it is wrong."""
    _, study = config_of_previewed_arm(study, arm_name)
    form = elicit_form_name_of_answer(study, submission)
    raise_if_answer_is_invalid(study, form, submission)
    return _read_answer(study, form, submission)


def import_code_that_reads_answers(study: Study) -> None:
    """Read an example answer, because the first one imports compiled code, which takes seconds."""
    example = Submission("example", NO_ID, [Mark("named", study.labels[0], "100")])
    _read_answer(study, elicit_form_name_of_answer(study, example), example)


def _read_answer(study: Study, form: str, submission: Submission) -> AnswerReading:
    """Return what an answer becomes when a form of `elicit` reads it."""
    answers = Answers.of(
        task=["preview"],
        worker=["preview"],
        marks=[submission.marks],
        labels=study.labels,
        abstain=np.array([submission.abstain]),
        none_of_these=np.array([submission.none_of_these]),
    )
    elicited = study.elicit_form(form).read(answers)
    votes = elicited.votes
    weights = np.ones(len(votes)) if votes.weight is None else votes.weight
    return AnswerReading(
        form=form,
        outcome=OUTCOMES[int(elicited.outcome[0])],
        probabilities=dict(zip(votes.labels[votes.label].tolist(), weights.tolist(), strict=True)),
        flags=[*flag_meanings(study, [name for name in FLAGS if elicited.has_flag(name)[0]]).values()],
    )
