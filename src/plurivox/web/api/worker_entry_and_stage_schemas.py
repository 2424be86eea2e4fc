"""Request and response bodies of the workers' routes except tasks and answers (task_and_answer_schemas); the error body."""

from typing import Annotated, Any, Literal
from urllib.parse import unquote

from pydantic import BaseModel, Field, model_validator
from pydantic_core import PydanticCustomError

from plurivox.web.api.schema_fields import Ms, PlatformId, RequestModel, SignedText
from plurivox.web.api.task_and_answer_schemas import Progress
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.study_state import StudyState
from plurivox.web.study.completion_pay_exclusion_config import PlatformName
from plurivox.web.study.question_forms import Form, Person


class ErrorResponse(BaseModel):
    """The body of every error response: `error` is a code for programs, `detail` a message for people."""

    error: str
    detail: str
    retry: bool = False  # whether the same request may succeed later: keep the answer and send it again
    me: "WorkerState | None" = None  # 409 wrong-stage: the worker's current state


ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {
    code: {"model": ErrorResponse} for code in (401, 403, 404, 409, 422, 429, 503)
}


PLAIN_SENTENCE = "plain_sentence"  # type of errors whose message is shown to people as it is
PLACEHOLDERS = (
    "The platform has not filled in this link. Please open the study from the platform. "
    "If you run the study, use Preview."
)
NO_IDS = (
    "This link lacks an ID that the platform adds. Please open the study again from the platform, without copying or "
    "shortening the link."
)
PLACEHOLDER_NAMES = {"prolific_pid", "study_id", "session_id", "workerid", "hitid", "assignmentid"}
EMPTY_IDS = {"", "null", "none", "undefined", "nan"}


def is_placeholder_of_platform(id_in_link: str) -> bool:
    """Return whether an id in a link is a placeholder that the platform should have replaced, url-encoded or not.

    >>> [is_placeholder_of_platform(one) for one in ("{{%PROLIFIC_PID%}}", "%7B%7B%25STUDY_ID%25%7D%7D", "5f00aa9c")]
    [True, True, False]
    """
    text = unquote(unquote(id_in_link)).strip()
    return any(sign in text for sign in "{}%$<>") or text.lower() in PLACEHOLDER_NAMES


class Platform(RequestModel):
    """Parameters of a platform's link: PROLIFIC_PID, STUDY_ID, SESSION_ID of Prolific; or workerId, hitId, assignmentId and
    turkSubmitTo of MTurk."""

    name: PlatformName = "prolific"
    pid: PlatformId
    study: PlatformId
    session: PlatformId
    submit_to: Literal["https://workersandbox.mturk.com", "https://www.mturk.com"] | None = None

    @model_validator(mode="before")
    @classmethod
    def _check_ids_are_filled_in(cls, given: Any) -> Any:
        """Raise an error in plain words if an id is empty or still the placeholder that the platform should have replaced."""
        ids = [given.get(name, "") for name in ("pid", "study", "session")] if isinstance(given, dict) else []
        if any(isinstance(one, str) and is_placeholder_of_platform(one) for one in ids):
            raise PydanticCustomError(PLAIN_SENTENCE, PLACEHOLDERS)
        if any(one is None or (isinstance(one, str) and one.strip().lower() in EMPTY_IDS) for one in ids):
            raise PydanticCustomError(PLAIN_SENTENCE, NO_IDS)
        return given

    @model_validator(mode="after")
    def _check_submit_to_and_not_mturk_preview(self) -> "Platform":
        """Raise ValueError if submit_to does not fit the platform, or the MTurk assignment is only a preview."""
        if (self.name == "mturk") != (self.submit_to is not None):
            raise ValueError("submit_to is required for mturk and not allowed for other platforms")
        if self.name == "mturk" and self.session == "ASSIGNMENT_ID_NOT_AVAILABLE":
            raise ValueError("this is a preview; the assignment has not been accepted yet")
        return self


class Enter(RequestModel):
    """Request body to enter a study by exactly one of an invite, a platform's parameters, or a personal link.

    The client makes `key` at random, once, and keeps it: if the response was lost, the same request with the same key lets the
    same person in, although the invite is used up or the platform's id taken.
    """

    invite: SignedText | None = None
    platform: Platform | None = None
    link: SignedText | None = None
    key: Annotated[str, Field(min_length=16, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")] | None = None

    @model_validator(mode="after")
    def _check_exactly_one_way_to_enter(self) -> "Enter":
        """Raise ValueError unless exactly one of invite, platform and link is set."""
        if sum(value is not None for value in (self.invite, self.platform, self.link)) != 1:
            raise ValueError("give exactly one of invite, platform and link")
        return self


class QuizQuestion(BaseModel):
    """A question of the comprehension check and its choices, as a worker sees it."""

    question: str
    choices: list[str]


class QuestionType(BaseModel):
    """What the question form asks a worker for (labels, percents, ticks, chips); the task page depends on this, not on the name
    of the form."""

    labels: int | None  # how many labels can be named: 1, 2, or None for any number
    percents: bool  # whether named labels have percents; with any number of labels, these sum to 100
    ticks: Literal["never", "possible"] | None  # what a tick means for a label that is not named; None: no ticks
    chips: int  # number of chips to place; 0: percents are placed freely


class WorkerState(BaseModel):
    """Response body with everything a worker's pages need: stage, progress, labels in this worker's order, form, texts."""

    worker: str  # the pseudonym
    study: str
    title: str
    state: StudyState
    stage: Stage
    stages: list[Stage]  # the stages of this study, in order
    progress: Progress
    labels: list[str]  # in this worker's order, the same on every visit
    form: Form
    asks: QuestionType
    wording: Person
    chips: int  # number of chips to place in the form chips
    exclude_by: Literal["never", "possible"]  # kind of the marks on labels that are not named
    phrases: dict[str, str]  # see study/question_forms.py; plain text, a blank line separates paragraphs
    text: (
        str  # of the current stage: consent, instructions (at stage quiz too), debrief; closed if the study is not open
    )
    quiz: list[QuizQuestion]  # only at stage quiz
    quiz_tries_left: int | None = None  # at stage quiz: after so many failed tries the study ends; None: no limit
    practice_over: bool = False  # practice is finished, and the first task that counts is not leased yet
    image_pixels: int
    submit_early: bool  # whether a sound can be answered before it was played to the end


class Preview(BaseModel):
    """Response body of the MTurk preview, before a worker enters: consent and instruction texts."""

    study: str
    title: str
    texts: list[str]


class EnterResponse(BaseModel):
    """Response body for a worker who enters: the token, to send as `Authorization: Bearer TOKEN`, and the personal link for
    another device."""

    token: str
    personal_link: str  # BASE/join#link=...
    me: WorkerState


class FinishStage(RequestModel):
    """Request body to finish a stage: consent given, instructions read, quiz answered, debrief read; or `tasks`, to stop
    waiting for more tasks."""

    stage: Literal["consent", "instructions", "quiz", "practice", "tasks", "debrief"]
    agreed: bool | None = None  # consent
    quiz: Annotated[list[Annotated[int, Field(ge=0, le=9)]], Field(max_length=20)] | None = None  # choices, from 0
    ms: Ms | None = None  # how long the page was shown, without hidden time
    comment: Annotated[str, Field(max_length=5000, pattern=r"^[^\x00]*$")] | None = None  # debrief


class FinishStageResponse(BaseModel):
    """Response body with the worker's new state. A quiz with mistakes does not finish the stage: `wrong` are the indices of the
    questions, from 0, and `why` their explanations."""

    me: WorkerState
    wrong: list[int] = []
    why: list[str] = []


class PlatformForm(BaseModel):
    """An HTML form that the browser posts to the platform to report completion: address and fields."""

    action: str
    fields: dict[str, str]


class CompletionResponse(BaseModel):
    """Response body at completion: a code to type, an address to open, or a form to post; all can be empty."""

    code: str
    redirect: str
    how: Literal["done", "full", "failed"] = "done"  # full: no task was left; failed: failed the check, or was excluded
    text: str = ""  # shown if `how` is not "done"
    submit: PlatformForm | None = None


class Health(BaseModel):
    """Response body of the health check, sent if the server and its database respond."""

    status: Literal["ok"]
    study: str
    version: str
