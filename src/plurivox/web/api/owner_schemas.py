"""Request and response bodies of the owners' routes; some routes return dataclasses of the store instead."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from plurivox.web.api.schema_fields import PlainText, RequestModel, SignedText
from plurivox.web.api.task_and_answer_schemas import ShownMark, Task
from plurivox.web.store.collect.excluded_workers import Exclusion
from plurivox.web.store.report.statistics_classes_and_queries import ArmResult
from plurivox.web.store.report.stored_pay_sheet import PayLine
from plurivox.web.store.report.stored_soft_labels_and_task_list import SoftLabel, TaskLine
from plurivox.web.store.study_state import StudyState
from plurivox.web.study.question_forms import Form

# start of a page of a list: `next` of the page before
After = Annotated[str | None, Query(max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
Limit = Annotated[int, Query(ge=1, le=500)]  # rows of a page
Prefix = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]  # beginning of the names to list


class SetUp(RequestModel):
    """Request body to create the first owner: the token printed in the terminal, a name and a password."""

    token: SignedText
    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[A-Za-z0-9_.@-]+$")]
    password: Annotated[str, Field(min_length=10, max_length=200)]


class LogIn(RequestModel):
    """Request body to sign in: name and password of an owner."""

    name: Annotated[PlainText, Field(min_length=1, max_length=80)]
    password: Annotated[str, Field(min_length=1, max_length=200)]


class Session(BaseModel):
    """Response body with the owner who is signed in; every write needs `csrf` in the header X-Plurivox-Token."""

    name: str
    csrf: str


class StudyLine(BaseModel):
    """Response body with the summary of a study: name, form, arms, labels and counts."""

    name: str
    title: str
    state: StudyState
    form: Form
    arms: list[str]  # empty unless the study has several forms
    labels: list[str]
    tasks: int
    answers: int
    workers: int


class TaskAnswer(BaseModel):
    """One worker's answer to a task."""

    answer: str
    worker: str
    when: float
    seconds: float | None
    marks: list[ShownMark]
    abstain: bool
    none_of_these: bool
    position: int
    repeat: bool
    extra: bool
    excluded: bool  # its worker was excluded
    flags: list[str]


class TaskDetail(BaseModel):
    """Response body with one task: its soft label over all labels and every answer to it."""

    line: TaskLine
    task: Task
    soft: list[SoftLabel]
    answers: list[TaskAnswer]


class Agreement(BaseModel):
    """Response body: agreement between workers (`scores` by name), of workers with themselves on repeats, and by hour."""

    scores: dict[str, float | None]
    repeats: int
    repeats_same_top: float | None  # share of repeats with the same top label
    by_hour: list[tuple[float, float, int]]  # (hour, share of answers with the task's current top label, answers)
    at: float | None


class Times(BaseModel):
    """Response body: median times in seconds, per stage, and of an answer by part and by position, from the latest snapshot."""

    stages: dict[str, float]
    first_input: float | None
    top_label: float | None  # until the first label was picked
    active: float | None  # from shown to submitted, without hidden time
    hidden: float | None
    by_position: list[tuple[int, float, int]]  # learning curve: (position, median active seconds, answers)
    at: float | None


class FormsCompared(BaseModel):
    """Response body: comparison of the arms of a study, each with another question form."""

    arms: list[ArmResult]  # empty if the study has one form, or before the first snapshot
    at: float | None


class Alert(BaseModel):
    """A failure of the background job, shown until it works again: message, start time, advice."""

    what: str
    since: float
    to_do: str


class BackgroundState(BaseModel):
    """Response body: figures of the latest snapshot of the results, whether it is stale, and alerts."""

    at: float | None
    answers: int
    by: str
    seconds: float
    entropy: list[int]  # histogram of the tasks' entropies, ten bins from 0 to log n_labels
    confidence: list[int]  # histogram of the top label's probability, ten bins from 0 to 1
    label_shares: dict[str, float]
    pending: bool  # whether there are newer answers than the snapshot
    recomputing: bool  # whether a worker was excluded or an exclusion lifted since the snapshot
    troubles: list[Alert]  # the oldest first


class ChangeState(RequestModel):
    """Request body with the new state of the study: open, paused or closed."""

    state: StudyState


class MakeInvite(RequestModel):
    """Request body to create an invitation: a note, and the number of people it admits."""

    note: Annotated[PlainText, Field(max_length=200)] = ""
    uses: Annotated[int, Field(ge=1, le=100_000)] = 1


class Invite(BaseModel):
    """Response body with an invitation: its link, how many people it admits and how many have used it."""

    invite: str
    address: str
    note: str
    uses: int
    used: int
    open: bool


class Invites(BaseModel):
    """Response body: all invitations, and the study addresses to enter at Prolific and MTurk."""

    invites: list[Invite]
    prolific: str  # study address for Prolific
    mturk: str  # ExternalURL of MTurk's ExternalQuestion; empty if the study does not use MTurk


class AuditLine(BaseModel):
    """Line of the audit log, an action of an owner: when, who, what, and details."""

    at: float
    who: str
    what: str
    detail: dict[str, Any]


class Audit(BaseModel):
    """Response body: the audit log of owners' actions, the newest first."""

    lines: list[AuditLine]


# ---- exclusions and pay


class Exclusions(BaseModel):
    """Response body: a page of the list of excluded workers, and the exclusion rules of the study."""

    exclusions: list[Exclusion]
    rules: list[str]
    next: str | None


class PayPage(BaseModel):
    """Response body: a page of the pay sheet of the latest snapshot, one line per worker's pseudonym."""

    lines: list[PayLine]
    currency: str
    total: str  # over all workers
    people: int
    next: str | None
