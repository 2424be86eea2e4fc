"""Request and response bodies of tasks, drafts and answers; classmethods `from_*` build them from store and service objects."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from plurivox.web.api.schema_fields import Id, LabelName, Ms, PlainText, RequestModel
from plurivox.web.services.next_tasks import NextTasks
from plurivox.web.services.submit_answer import SubmitResult
from plurivox.web.store.collect import sittings_and_leased_slots, submissions
from plurivox.web.store.collect.sittings_and_leased_slots import ShownTask, Sitting
from plurivox.web.store.collect.submissions import MarkKind
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.store.schema import TaskKind
from plurivox.web.study.config import Study

MAX_DRAFT_CHARS = 8_000


class Progress(BaseModel):
    """A worker's progress: `done` of `total` tasks of the current sitting, repeats included."""

    done: int
    total: int  # 0 until the sitting has begun
    sitting: int  # 1, 2, ...
    sittings: int

    @classmethod
    def progress_in_sitting(cls, study: Study, sitting: Sitting | None) -> Self:
        """Return how many tasks of how many a worker has done in a sitting; 0 of 0 before the first (`sitting` is None)."""
        if sitting is None:
            return cls(done=0, total=0, sitting=1, sittings=study.sittings)
        number = max(sitting.number, 1)
        return cls(done=sitting.done, total=sitting.total, sitting=number, sittings=study.sittings)


class Task(BaseModel):
    """The content of a task. Kinds image and audio have `media`, text has `text`, pair has `text` and `text2`."""

    kind: TaskKind
    text: str | None = None
    text2: str | None = None
    media: str | None = None  # /media/ID
    width: int | None = None
    height: int | None = None

    @classmethod
    def from_shown_task(cls, shown_task: ShownTask) -> Self:
        """Build the content of a task for the task page; its name is left out because it may reveal the answer."""
        address = None if shown_task.media_id is None else f"/media/{encode_id(shown_task.media_id)}"
        return cls(
            kind=shown_task.kind,
            text=shown_task.text,
            text2=shown_task.text2,
            media=address,
            width=shown_task.width,
            height=shown_task.height,
        )


class Slot(BaseModel):
    """Response body with a slot: a task leased to the worker, to be answered. Whether it is a repeat is not shown."""

    slot: str
    task: Task
    position: int  # 1 to total; practice tasks have their own count
    practice: bool

    @classmethod
    def from_leased_slot(cls, slot: sittings_and_leased_slots.Slot) -> Self:
        """Build the response for a task leased to a worker: content, position, and whether it is practice."""
        task, practice = Task.from_shown_task(slot.shown), slot.kind == "practice"
        return cls(slot=encode_id(slot.id), task=task, position=slot.position, practice=practice)


OTHERS_BEGIN = (
    "Several people are starting at the same time. You can start as soon as one of them has given an answer. "
    "This page checks every few seconds."
)


class Waiting(BaseModel):
    """Response body if no task is available: the remaining ones are leased to other workers until their leases expire. Request
    again after `again_seconds`; a worker who has answered may also finish the stage `tasks`."""

    answered: int  # answers of this worker; without any there is no completion code
    until: float  # when the first lease expires, in seconds since 1970
    again_seconds: float
    text: str
    others_begin: bool = (
        False  # tasks are open, but too many are leased to people who have not answered yet: ask again soon
    )

    @classmethod
    def from_waiting_worker(cls, study: Study, waiting: sittings_and_leased_slots.Waiting) -> Self:
        """Build the response for a worker who waits for a task: when to request again, and the waiting text of the study."""
        return cls(
            answered=waiting.answered,
            until=waiting.until,
            again_seconds=waiting.retry_seconds,
            text=OTHERS_BEGIN if waiting.others_begin else study.texts.waiting,
            others_begin=waiting.others_begin,
        )


class Draft(RequestModel):
    """Request body with a draft: an unfinished answer in the page's own format, stored until the answer is submitted; never
    counted."""

    slot: Id
    body: Annotated[str, Field(min_length=1, max_length=MAX_DRAFT_CHARS, pattern=r"^[^\x00]*$")]


class DraftSaved(BaseModel):
    """Response body: whether the draft was stored; false if the slot is answered already or its lease has expired."""

    kept: bool


class Slots(BaseModel):
    """The next slots (leased tasks) in order, repeated until they are answered; `enough`: no task is left for this worker."""

    slots: list[Slot]
    progress: Progress
    enough: bool
    waiting: Waiting | None = None
    draft: Draft | None = None  # the unfinished answer, perhaps from another device

    @classmethod
    def from_next_tasks(cls, study: Study, next_tasks: NextTasks) -> Self:
        """Build the response to a request for tasks: leased slots, progress, and the draft or the waiting response."""
        draft = next_tasks.draft
        return cls(
            slots=[Slot.from_leased_slot(one) for one in next_tasks.slots],
            progress=Progress.progress_in_sitting(study, next_tasks.sitting),
            enough=not next_tasks.slots and next_tasks.waiting is None,
            waiting=None if next_tasks.waiting is None else Waiting.from_waiting_worker(study, next_tasks.waiting),
            draft=None if draft is None else Draft(slot=encode_id(draft.slot), body=draft.body),
        )


class Mark(RequestModel):
    """What a worker marked a label as: named (in order, with the percent as typed), never (ruled out) or possible."""

    kind: MarkKind
    label: LabelName
    typed: Annotated[str, Field(max_length=8, pattern=r"^([0-9]{1,3}(\.[0-9]{1,2})?)?$")] = ""


class ShownMark(BaseModel):
    """A stored mark; the percent of an imported answer may have any format."""

    kind: MarkKind
    label: str
    typed: str


class Event(RequestModel):
    """One input event on the task page; `ms` since the task was shown, by a monotonic clock."""

    seq: Annotated[int, Field(ge=0, le=100_000)]
    ms: Ms
    # pick, percent, never, possible, undo, mode, submit, hide, show ...
    kind: Annotated[PlainText, Field(max_length=40)]
    label: LabelName | None = None
    value: Annotated[PlainText, Field(max_length=40)] | None = None
    by: Literal["key", "mouse", "touch", "pen", "other"] = "other"


class SubmitAnswer(RequestModel):
    """Request body with an answer to submit. The client makes one random `key` per answer and keeps it until the answer is
    acknowledged: sent twice, it counts once. To change an answer, submit a new one with `replaces`, the id of the old one."""

    key: Id
    slot: Id
    marks: Annotated[list[Mark], Field(max_length=2000)] = []
    abstain: bool = False
    none_of_these: bool = False
    replaces: Id | None = None
    shown_at: Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False)] | None = None  # seconds since 1970, client
    first_input_ms: Ms | None = None  # since shown
    submitted_ms: Ms | None = None  # since shown
    hidden_ms: Ms = 0
    mode: Annotated[PlainText, Field(max_length=40)] = ""  # keyboard, mouse, touch, histogram ...
    label_order: Annotated[list[LabelName], Field(max_length=1000)] | None = None
    events: Annotated[list[Event], Field(max_length=1000)] = []
    ahead: Annotated[int, Field(ge=0, le=10)] = 0  # number of next slots to include in the response

    def to_submission(self) -> submissions.Submission:
        """Convert the request body to the Submission that `submit_answer` stores."""
        values = self.model_dump(exclude={"slot", "marks", "label_order", "ahead"})
        marks = [submissions.Mark(one.kind, one.label, one.typed) for one in self.marks]
        slot, label_order = decode_id(self.slot), self.label_order or ()
        return submissions.Submission(slot=slot, marks=marks, label_order=label_order, **values)


class AnswerAcknowledged(BaseModel):
    """Response body that acknowledges an answer, sent after the answer is on disk. `extra`: the lease had expired and the task
    already had all its answers; the answer is kept as late, beyond the quota."""

    answer: str
    again: bool  # the key was submitted before: this repeats the first acknowledgement
    extra: bool
    progress: Progress
    stage: Stage
    enough: bool
    slots: list[Slot] = []  # the next `ahead` slots

    @classmethod
    def from_submit_result(cls, study: Study, answer_id: str, result: SubmitResult) -> Self:
        """Build the acknowledgement of a submitted answer, whose id is `answer_id`."""
        return cls(
            answer=answer_id,
            again=result.again,
            extra=result.extra,
            progress=Progress.progress_in_sitting(study, result.sitting),
            stage=result.worker.stage,
            enough=result.worker.stage not in ("practice", "tasks"),
            slots=[Slot.from_leased_slot(one) for one in result.ahead],
        )


class MyAnswer(BaseModel):
    """Response body with an answer of the worker's current sitting, to review or change."""

    answer: str
    slot: Slot
    marks: list[ShownMark]
    abstain: bool
    none_of_these: bool

    @classmethod
    def from_own_answer(cls, answer: submissions.OwnAnswer) -> Self:
        """Build the response for a stored answer of the worker, with its slot and marks, for review or change."""
        return cls(
            answer=answer.key,
            slot=Slot.from_leased_slot(answer.slot),
            marks=[ShownMark(kind=one.kind, label=one.label, typed=one.typed) for one in answer.marks],
            abstain=answer.abstain,
            none_of_these=answer.none_of_these,
        )


class MyAnswers(BaseModel):
    """Response body: answers of the worker's current sitting, the latest first."""

    answers: list[MyAnswer]
