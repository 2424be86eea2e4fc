"""Every request and every answer of the API, as pydantic models; those of owners are in owner_schemas. Ids are opaque."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from plurivox.web.store.collect.submissions import MarkKind
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.schema import TaskKind
from plurivox.web.store.study_state import State
from plurivox.web.study.forms import Form, Person
from plurivox.web.study.terms import PlatformName

Plain = Annotated[str, Field(pattern=r"^[^\x00-\x1f\x7f]*$")]  # text without control characters
Id = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
PlatformId = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[A-Za-z0-9_.:@-]+$")]
Signed = Annotated[str, Field(min_length=1, max_length=400, pattern=r"^[A-Za-z0-9_.=-]+$")]
LabelName = Annotated[Plain, Field(min_length=1, max_length=200)]
Ms = Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]  # milliseconds
DAY = 86_400_000
DRAFT = 8_000  # characters of an unfinished answer


class Model(BaseModel):
    """What comes in is refused where it says more than is known."""

    model_config = ConfigDict(extra="forbid")


class Fault(BaseModel):
    """The body of every answer that is no success: `error` is a word for programs, `detail` a line for people."""

    error: str
    detail: str
    retry: bool = False  # whether the same request may succeed later: keep the answer and send it again
    me: "Me | None" = None  # 409 wrong-stage: where the person stands instead


FAULTS: dict[int | str, dict[str, Any]] = {code: {"model": Fault} for code in (401, 403, 404, 409, 422, 429, 503)}


# ---- workers: who they are


class Platform(Model):
    """The parameters of a platform's link: PROLIFIC_PID, STUDY_ID, SESSION_ID; or workerId, hitId, assignmentId and
    turkSubmitTo of MTurk."""

    name: PlatformName = "prolific"
    pid: PlatformId
    study: PlatformId
    session: PlatformId
    submit_to: Literal["https://workersandbox.mturk.com", "https://www.mturk.com"] | None = None

    @model_validator(mode="after")
    def _where_to(self) -> "Platform":
        if (self.name == "mturk") != (self.submit_to is not None):
            raise ValueError("submit_to is where an assignment of MTurk is sent to, and of no other platform")
        if self.name == "mturk" and self.session == "ASSIGNMENT_ID_NOT_AVAILABLE":
            raise ValueError("this is a preview; nobody has accepted it yet")
        return self


class Enter(Model):
    """One of three ways in: an invite link, a platform's parameters, a signed personal link.

    `key` is made by the client at random, once, and kept: where the answer got lost, the same request with the same key
    lets the same person in, although the invite is used up or the platform's id taken.
    """

    invite: Signed | None = None
    platform: Platform | None = None
    link: Signed | None = None
    key: Annotated[str, Field(min_length=16, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")] | None = None

    @model_validator(mode="after")
    def _one_way(self) -> "Enter":
        if sum(way is not None for way in (self.invite, self.platform, self.link)) != 1:
            raise ValueError("say one of invite, platform and link")
        return self


class QuizQuestion(BaseModel):
    question: str
    choices: list[str]


class Progress(BaseModel):
    """How far a person is; `done` of `total` tasks of this sitting, repeats counted like any other."""

    done: int
    total: int  # 0 until the sitting has begun
    sitting: int  # 1, 2, ...
    sittings: int


class Asks(BaseModel):
    """What the form asks for: the task page is made by this, whatever the form is called."""

    labels: int | None  # how many may be named: 1, 2 or any number
    percents: bool  # whether named labels have percents; with any number of labels, these add up to 100
    ticks: (
        Literal["never", "possible"] | None
    )  # what a tick says of a label that is not named; none: there are no ticks
    chips: int  # how many there are to place; 0: percents are placed freely


class Me(BaseModel):
    """What a worker's pages need: stage, progress, labels in this person's own order, form, texts."""

    worker: str  # the pseudonym
    study: str
    title: str
    state: State
    stage: Stage
    stages: list[Stage]  # those that this study has, in order
    progress: Progress
    labels: list[str]  # in this person's order, the same on every visit
    form: Form
    asks: Asks
    wording: Person
    chips: int  # of the form chips: how many there are to place
    exclude_by: Literal["never", "possible"]  # what the unnamed labels are marked with: possible for also-possible
    phrases: dict[str, str]  # see study/forms.py; a blank line parts paragraphs, all is plain text
    text: str  # of the current stage: consent, instructions, debrief, or closed where the study takes no answers
    quiz: list[QuizQuestion]  # only at stage quiz
    image_pixels: int
    submit_early: bool  # whether a sound may be answered before it was heard to the end


class Preview(BaseModel):
    """What somebody may read who has not come in yet: nobody is made a worker by it."""

    study: str
    title: str
    texts: list[str]  # consent and instructions, where there are any


class Entered(BaseModel):
    """The token goes in `Authorization: Bearer TOKEN`; the personal link goes on elsewhere."""

    token: str
    personal_link: str  # the whole address: BASE/join#link=...
    me: Me


class FinishStage(Model):
    """A worker has finished `stage`: consent given, instructions read, quiz answered, debrief read; or does not want to
    wait for more tasks."""

    stage: Literal["consent", "instructions", "quiz", "practice", "tasks", "debrief"]
    agreed: bool | None = None  # consent
    quiz: Annotated[list[Annotated[int, Field(ge=0, le=9)]], Field(max_length=20)] | None = None  # chosen, from 0
    ms: Ms | None = None  # how long the page was seen
    comment: Annotated[str, Field(max_length=5000, pattern=r"^[^\x00]*$")] | None = None  # debrief


class StageFinished(BaseModel):
    """Where the person stands now. A quiz with mistakes stays: `wrong` are the places of the questions, from 0, and
    `why` what to tell about them."""

    me: Me
    wrong: list[int] = []
    why: list[str] = []


# ---- workers: tasks and answers


class Task(BaseModel):
    """What is shown. image, audio: `media`; text: `text`; pair: `text` and `text2`."""

    kind: TaskKind
    text: str | None = None
    text2: str | None = None
    media: str | None = None  # /media/ID
    width: int | None = None
    height: int | None = None


class Slot(BaseModel):
    """One place in a person's sitting: leased, to be answered. Whether it is a repeat is not told."""

    slot: str
    task: Task
    position: int  # 1 to total; practice counts by itself
    practice: bool


class Waiting(BaseModel):
    """Others hold the last tasks; what they do not answer in time comes back. Ask again after `again_seconds`; who has
    answered may also finish the stage `tasks`."""

    answered: int  # by this person: with none there is no completion code
    until: float  # seconds since 1970: the first lease of others ends
    again_seconds: float
    text: str


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


class AnswerTaken(BaseModel):
    """Sent after the answer is on disk. `extra`: it came after its lease had ended and the task was full; it is kept."""

    answer: str
    again: bool  # the same key had come before: this is its first acknowledgement once more
    extra: bool
    progress: Progress
    stage: Stage
    enough: bool
    slots: list[Slot] = []  # the next `ahead` slots


class MyAnswer(BaseModel):
    """An answer of this person's current sitting, to go back to."""

    answer: str
    slot: Slot
    marks: list[ShownMark]
    abstain: bool
    none_of_these: bool


class MyAnswers(BaseModel):
    answers: list[MyAnswer]  # the latest first


class Submit(BaseModel):
    """A form to be posted: the way in which a platform hears of the end."""

    action: str
    fields: dict[str, str]


class Done(BaseModel):
    """The end: a code to type, an address to go to, a form to send, or nothing of these."""

    code: str
    redirect: str
    how: Literal["done", "full", "failed"] = "done"  # full: no task was left; failed: the check, or a rule
    text: str = ""  # of an end that is not the usual one
    submit: Submit | None = None


class Health(BaseModel):
    status: Literal["ok"]
    study: str
    version: str
