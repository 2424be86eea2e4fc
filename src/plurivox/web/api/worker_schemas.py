"""Bodies of the requests of workers, but tasks and answers (answer_schemas), and what all requests may fail with."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from plurivox.web.api.answer_schemas import Progress
from plurivox.web.api.schema_fields import Model, Ms, PlatformId, Signed
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.study_state import StudyState
from plurivox.web.study.forms import Form, Person
from plurivox.web.study.terms import PlatformName


class Fault(BaseModel):
    """The body of every answer that is no success: `error` is a word for programs, `detail` a line for people."""

    error: str
    detail: str
    retry: bool = False  # whether the same request may succeed later: keep the answer and send it again
    me: "Me | None" = None  # 409 wrong-stage: where the person stands instead


FAULTS: dict[int | str, dict[str, Any]] = {code: {"model": Fault} for code in (401, 403, 404, 409, 422, 429, 503)}


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
    state: StudyState
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
