"""Requests and answers of the owners' part of the API; lists are answered with the dataclasses of the store."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from plurivox.web.api.answer_schemas import ShownMark, Task
from plurivox.web.api.schema_fields import Model, Plain, Signed
from plurivox.web.store.collect.excluded_workers import Exclusion
from plurivox.web.store.report.pay_sheet import PayLine
from plurivox.web.store.report.soft_labels import SoftLabel, TaskLine
from plurivox.web.store.report.statistics import ArmResult
from plurivox.web.store.study_state import StudyState
from plurivox.web.study.forms import Form

After = Annotated[
    str | None, Query(max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")
]  # a list: the place where a page begins
Limit = Annotated[int, Query(ge=1, le=500)]  # rows of a page
Prefix = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]  # of the names that are looked for


class SetUp(Model):
    """The first owner: the token that the terminal showed, and a password of one's own."""

    token: Signed
    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[A-Za-z0-9_.@-]+$")]
    password: Annotated[str, Field(min_length=10, max_length=200)]


class LogIn(Model):
    name: Annotated[Plain, Field(min_length=1, max_length=80)]
    password: Annotated[str, Field(min_length=1, max_length=200)]


class Session(BaseModel):
    """Who is signed in; `csrf` goes in the header X-Plurivox-Token of every write."""

    name: str
    csrf: str


class StudyLine(BaseModel):
    name: str
    title: str
    state: StudyState
    form: Form
    arms: list[str]  # of a study that asks in several forms
    labels: list[str]
    tasks: int
    answers: int
    workers: int


class OneAnswer(BaseModel):
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
    excluded: bool  # its person was left out
    flags: list[str]


class TaskDetail(BaseModel):
    line: TaskLine
    task: Task
    soft: list[SoftLabel]  # every label
    answers: list[OneAnswer]


class Agreement(BaseModel):
    """Scores of the crowd, by name."""

    scores: dict[str, float | None]
    repeats: int
    repeats_same_top: float | None  # share of repeats with the same top label
    by_hour: list[tuple[float, float, int]]  # (hour, share of answers whose top label is their task's by now, answers)
    at: float | None


class Times(BaseModel):
    """Where the time goes: medians in seconds."""

    stages: dict[str, float]  # by stage
    first_input: float | None
    top_label: float | None  # until the first label was picked
    active: float | None  # shown to submitted without hidden time
    hidden: float | None
    by_position: list[tuple[int, float, int]]  # learning curve: (position, median active seconds, answers)
    at: float | None


class FormsCompared(BaseModel):
    arms: list[ArmResult]  # empty where the study asks in one form, or before the first snapshot
    at: float | None


class Alert(BaseModel):
    """Something that goes wrong beside the requests; it goes away when it works again."""

    what: str
    since: float
    to_do: str


class BackgroundState(BaseModel):
    """The latest snapshot of the background in figures, whether it is stale, and what goes wrong."""

    at: float | None
    answers: int
    by: str
    seconds: float
    entropy: list[int]  # histogram of the tasks' entropies, ten bins from 0 to log n_labels
    confidence: list[int]  # of the top label's probability, ten bins from 0 to 1
    label_shares: dict[str, float]
    pending: bool  # whether newer answers wait for the next one
    recomputing: bool  # whether somebody was excluded or taken back since: what is shown still counts as before
    troubles: list[Alert]  # what keeps the background from doing its work, the oldest first


class ChangeState(Model):
    state: StudyState


class MakeInvite(Model):
    note: Annotated[Plain, Field(max_length=200)] = ""
    uses: Annotated[int, Field(ge=1, le=100_000)] = 1


class Invite(BaseModel):
    invite: str
    address: str
    note: str
    uses: int
    used: int
    open: bool


class Invites(BaseModel):
    invites: list[Invite]
    prolific: str  # the address to enter at Prolific
    mturk: str  # the ExternalURL of MTurk's ExternalQuestion; empty where the study is not there


class AuditLine(BaseModel):
    at: float
    who: str
    what: str
    detail: dict[str, Any]


class Audit(BaseModel):
    lines: list[AuditLine]


# ---- people: exclusions and pay


class Exclusions(BaseModel):
    exclusions: list[Exclusion]
    rules: list[str]  # of the study
    next: str | None


class PayPage(BaseModel):
    """The pay sheet as the background last computed it; by pseudonym, never by a platform's id."""

    lines: list[PayLine]
    currency: str
    total: str  # over all people
    people: int
    next: str | None
