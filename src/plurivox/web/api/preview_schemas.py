"""Response bodies of the owner's preview; they are built from the dataclasses of `services/preview.py`."""

from typing import Literal, Self

from pydantic import BaseModel

from plurivox.web.api.response_builders import worker_completion_response, worker_state_response
from plurivox.web.api.task_and_answer_schemas import Slot
from plurivox.web.api.worker_entry_and_stage_schemas import CompletionResponse, WorkerState
from plurivox.web.services import preview
from plurivox.web.services.worker_completion import Outcome
from plurivox.web.study.completion_pay_exclusion_config import PlatformName
from plurivox.web.study.config import Study


class PreviewTask(BaseModel):
    """A task of the preview as a worker gets it, with what only owners see: its name, and whether it is a repeat."""

    slot: Slot
    name: str
    repeat: bool

    @classmethod
    def from_preview_task(cls, task: preview.PreviewTask) -> Self:
        """Build the response for a task of the preview."""
        return cls(slot=Slot.from_leased_slot(task.slot), name=task.name, repeat=task.slot.kind == "repeat")


class CheckedQuestion(BaseModel):
    """What is right in a question of the comprehension check, and what workers read after a wrong answer."""

    right: int  # index of the correct choice, from 0
    why: str


class StudyPreview(BaseModel):
    """Response body with all that a new worker would see. No worker exists: every request draws new tasks and label orders."""

    arm: str  # empty if the study has no arms
    arms: list[str]
    states: list[WorkerState]  # one per stage of the study, in order
    practice: list[PreviewTask]
    tasks: list[PreviewTask]  # one sitting, at most 100 tasks
    quiz: list[CheckedQuestion]
    quiz_tries: int  # failed tries of the check after which the study ends for a worker; 0: no limit
    endings: dict[Outcome, CompletionResponse]
    platforms: list[PlatformName]

    @classmethod
    def from_preview(cls, study: Study, found: preview.Preview) -> Self:
        """Build the response from a preview of the study; worker states are those that workers get."""
        return cls(
            arm=found.arm,
            arms=[one.name for one in study.arms],
            states=[worker_state_response(study, one) for one in found.stages],
            practice=[PreviewTask.from_preview_task(one) for one in found.practice],
            tasks=[PreviewTask.from_preview_task(one) for one in found.tasks],
            quiz=[CheckedQuestion(right=one.right, why=one.why) for one in study.quiz],
            quiz_tries=study.exclude.quiz_tries,
            endings={how: worker_completion_response(one) for how, one in found.endings.items()},
            platforms=list(study.platforms),
        )


class LabelProbability(BaseModel):
    """The probability that an answer gives to a label."""

    label: str
    p: float


class AnswerReading(BaseModel):
    """Response body: what an answer becomes. Nothing was saved."""

    form: str  # the form of `plurivox elicit` that reads it
    outcome: Literal["read", "abstained", "none-of-these", "unreadable"]
    soft: list[LabelProbability]  # labels above 0, the most probable first; empty unless the outcome is `read`
    flags: list[str]  # what is odd about it, in sentences

    @classmethod
    def from_reading(cls, reading: preview.AnswerReading) -> Self:
        """Build the response from what an answer becomes, with the most probable label first."""
        ordered = sorted(reading.probabilities.items(), key=lambda pair: -pair[1])
        soft = [{"label": label, "p": p} for label, p in ordered]
        return cls.model_validate({**vars(reading), "soft": soft})
