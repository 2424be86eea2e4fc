"""Bodies of the requests by which workers get tasks and give answers; `of` makes one of what a service has found."""

from typing import Annotated, Literal, Self

from pydantic import BaseModel, Field

from plurivox.web.api.schema_fields import Id, LabelName, Model, Ms, Plain
from plurivox.web.services.next_tasks import NextTasks
from plurivox.web.services.submit_answer import SubmitResult
from plurivox.web.store.collect import sittings, submissions
from plurivox.web.store.collect.sittings import ShownTask, Sitting
from plurivox.web.store.collect.submissions import MarkKind
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.store.schema import TaskKind
from plurivox.web.study.config import Study

DRAFT = 8_000  # characters of an unfinished answer


class Progress(BaseModel):
    """How far a person is; `done` of `total` tasks of this sitting, repeats counted like any other."""

    done: int
    total: int  # 0 until the sitting has begun
    sitting: int  # 1, 2, ...
    sittings: int

    @classmethod
    def of(cls, study: Study, sitting: Sitting | None) -> Self:
        """How far a person is in a sitting, or before the first."""
        if sitting is None:
            return cls(done=0, total=0, sitting=1, sittings=study.sittings)
        number = max(sitting.number, 1)
        return cls(done=sitting.done, total=sitting.total, sitting=number, sittings=study.sittings)


class Task(BaseModel):
    """What is shown. image, audio: `media`; text: `text`; pair: `text` and `text2`."""

    kind: TaskKind
    text: str | None = None
    text2: str | None = None
    media: str | None = None  # /media/ID
    width: int | None = None
    height: int | None = None

    @classmethod
    def of(cls, task: ShownTask) -> Self:
        """What a task shows; its own name stays with us, since it may tell the answer."""
        address = None if task.media_id is None else f"/media/{encode_id(task.media_id)}"
        return cls(
            kind=task.kind, text=task.text, text2=task.text2, media=address, width=task.width, height=task.height
        )


class Slot(BaseModel):
    """One place in a person's sitting: leased, to be answered. Whether it is a repeat is not told."""

    slot: str
    task: Task
    position: int  # 1 to total; practice counts by itself
    practice: bool

    @classmethod
    def of(cls, slot: sittings.Slot) -> Self:
        """A leased slot."""
        task, practice = Task.of(slot.shown), slot.kind == "practice"
        return cls(slot=encode_id(slot.id), task=task, position=slot.position, practice=practice)


class Waiting(BaseModel):
    """Others hold the last tasks; what they do not answer in time comes back. Ask again after `again_seconds`; who has
    answered may also finish the stage `tasks`."""

    answered: int  # by this person: with none there is no completion code
    until: float  # seconds since 1970: the first lease of others ends
    again_seconds: float
    text: str

    @classmethod
    def of(cls, study: Study, waiting: sittings.Waiting) -> Self:
        """What a person may wait for, in the words of the study."""
        text = study.texts.waiting
        return cls(answered=waiting.answered, until=waiting.until, again_seconds=waiting.retry_seconds, text=text)


class Draft(Model):
    """An unfinished answer, as the page writes it down for itself: kept until the answer comes, never counted."""

    slot: Id
    body: Annotated[str, Field(min_length=1, max_length=DRAFT, pattern=r"^[^\x00]*$")]


class DraftKept(BaseModel):
    """Whether it is kept: not where the slot is answered already or was given back."""

    kept: bool


class Slots(BaseModel):
    """The next slots in order, the same ones again until they are answered; `enough`: none is left for this person."""

    slots: list[Slot]
    progress: Progress
    enough: bool
    waiting: Waiting | None = None
    draft: Draft | None = None  # what was begun and not finished, perhaps on another device

    @classmethod
    def of(cls, study: Study, found: NextTasks) -> Self:
        """The next slots of a person, or what to wait for."""
        draft = found.draft
        return cls(
            slots=[Slot.of(one) for one in found.slots],
            progress=Progress.of(study, found.sitting),
            enough=not found.slots and found.waiting is None,
            waiting=None if found.waiting is None else Waiting.of(study, found.waiting),
            draft=None if draft is None else Draft(slot=encode_id(draft.slot), body=draft.body),
        )


class Mark(Model):
    """A label that is named (in order, with the percent as typed), ruled out, or held possible."""

    kind: MarkKind
    label: LabelName
    typed: Annotated[str, Field(max_length=8, pattern=r"^([0-9]{1,3}(\.[0-9]{1,2})?)?$")] = ""


class ShownMark(BaseModel):
    """A mark as it was stored; what came from elsewhere may be typed in any way."""

    kind: MarkKind
    label: str
    typed: str


class Event(Model):
    """One input of a person, by the page's monotonic clock: ms since the task was shown."""

    seq: Annotated[int, Field(ge=0, le=100_000)]
    ms: Ms
    kind: Annotated[Plain, Field(max_length=40)]  # pick, percent, never, possible, undo, mode, submit, hide, show ...
    label: LabelName | None = None
    value: Annotated[Plain, Field(max_length=40)] | None = None
    by: Literal["key", "mouse", "touch", "pen", "other"] = "other"


class GiveAnswer(Model):
    """An answer. `key` is made by the client, once per answer, and kept until the answer is acknowledged: sent twice,
    it counts once. Undo is a new answer with `replaces`, the id of the answer it puts right."""

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
    mode: Annotated[Plain, Field(max_length=40)] = ""  # keyboard, mouse, touch, histogram ...
    label_order: Annotated[list[LabelName], Field(max_length=1000)] | None = None
    events: Annotated[list[Event], Field(max_length=1000)] = []
    ahead: Annotated[int, Field(ge=0, le=10)] = 0  # answer with the next slots, so that no other request is needed

    def submission(self) -> submissions.Submission:
        """The answer as services take it."""
        values = self.model_dump(exclude={"slot", "marks", "label_order", "ahead"})
        marks = [submissions.Mark(one.kind, one.label, one.typed) for one in self.marks]
        slot, label_order = decode_id(self.slot), self.label_order or ()
        return submissions.Submission(slot=slot, marks=marks, label_order=label_order, **values)


class AnswerTaken(BaseModel):
    """Sent after the answer is on disk. `extra`: it came after its lease had ended and the task was full; it is kept."""

    answer: str
    again: bool  # the same key had come before: this is its first acknowledgement once more
    extra: bool
    progress: Progress
    stage: Stage
    enough: bool
    slots: list[Slot] = []  # the next `ahead` slots

    @classmethod
    def of(cls, study: Study, key: str, taken: SubmitResult) -> Self:
        """The acknowledgement of the answer with this key."""
        return cls(
            answer=key,
            again=taken.again,
            extra=taken.extra,
            progress=Progress.of(study, taken.sitting),
            stage=taken.worker.stage,
            enough=taken.worker.stage not in ("practice", "tasks"),
            slots=[Slot.of(one) for one in taken.ahead],
        )


class MyAnswer(BaseModel):
    """An answer of this person's current sitting, to go back to."""

    answer: str
    slot: Slot
    marks: list[ShownMark]
    abstain: bool
    none_of_these: bool

    @classmethod
    def of(cls, answer: submissions.OwnAnswer) -> Self:
        """An answer to go back to."""
        return cls(
            answer=answer.key,
            slot=Slot.of(answer.slot),
            marks=[ShownMark(kind=one.kind, label=one.label, typed=one.typed) for one in answer.marks],
            abstain=answer.abstain,
            none_of_these=answer.none_of_these,
        )


class MyAnswers(BaseModel):
    answers: list[MyAnswer]  # the latest first
