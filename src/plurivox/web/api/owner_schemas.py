"""Requests and answers of the owners' part of the API."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from plurivox.web.api.worker_schemas import Model, Plain, ShownMark, Signed, Task
from plurivox.web.store.collect.workers import Stage
from plurivox.web.store.study_state import State
from plurivox.web.study.wordings import Form, Person


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
    state: State
    form: Form
    arms: list[str]  # of a study that asks in several forms
    labels: list[str]
    tasks: int
    answers: int
    workers: int


class Quota(BaseModel):
    """How full a stratum is."""

    stratum: str
    tasks: int
    wanted: int  # answers that quotas ask for
    given: int  # done
    leased: int  # being answered now
    full_tasks: int  # as of the latest snapshot


class Settled(BaseModel):
    """What next-best asks no more about: a further answer is expected to tell less than `least` nats."""

    tasks: int  # whose quota is not full
    spared: int  # answers that are not asked for
    least: float


class StudyProgress(BaseModel):
    state: State
    answers: int  # the last word of each slot; repeats, practice and extras not counted
    wanted: int
    repeats: int
    practice: int
    extras: int
    replaced: int
    workers: dict[str, int]  # by stage
    quotas: list[Quota]
    per_hour: list[tuple[float, int]]  # (hour as seconds since 1970, answers), the latest 72 hours with answers
    snapshot_at: float | None
    settled: Settled | None = None  # only where the study asks for what tells most; of the latest snapshot


class SoftLabel(BaseModel):
    label: str
    p: float
    low: float  # of a 95% interval
    high: float


class TaskLine(BaseModel):
    task: str  # opaque
    name: str
    stratum: str
    kind: Literal["image", "audio", "text", "pair"]
    given: int
    quota: int
    entropy: float | None  # of the soft label, in nats; None before the first snapshot that knows it
    top: list[SoftLabel]  # the most probable labels, at most three


class TaskPage(BaseModel):
    tasks: list[TaskLine]
    next: str | None  # hand back as `after`


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


class WorkerLine(BaseModel):
    worker: str
    stage: Stage
    status: Literal["active", "excluded", "erased"]
    answers: int
    median_seconds: float | None
    scores: dict[str, float | None]  # agreement-with-rest, repeat-consistency, ...: higher is worse
    flags: int
    last_seen: float


class WorkerPage(BaseModel):
    workers: list[WorkerLine]
    next: str | None


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


class ArmLine(BaseModel):
    """One arm of a study that asks in several forms. Three numbers are a value and the ends of its 95% interval."""

    arm: str
    form: Form
    wording: Person
    people: int
    finished: int
    left: int  # neither done nor seen for as long as a lease lasts
    drop_out: tuple[float, float, float] | None  # of those who finished or left
    answers: int
    seconds: tuple[float, float, float] | None  # the median of active ones
    inputs: float | None  # keys, clicks and taps of an answer, at the median
    entropy: float | None  # of one answer, in nats
    agreement: float | None  # within the arm
    against: Literal["gold", "others"] | None  # what answers are held against
    tasks: int  # that can be held against it
    accuracy: float | None  # share of tasks whose most probable label is the reference's
    match: float | None  # mass that one answer has in common with the reference
    per_minute: float | None  # how much more than with references of other tasks, for a minute of work
    curve: list[tuple[int, float | None, float | None]]  # answers a task, seconds a task, match of their mean


class FormsCompared(BaseModel):
    arms: list[ArmLine]  # empty where the study asks in one form, or before the first snapshot
    at: float | None


class Flagged(BaseModel):
    answer: str
    worker: str
    task: str
    name: str
    flags: list[str]
    when: float


class FlaggedPage(BaseModel):
    flagged: list[Flagged]
    counts: dict[str, int]
    next: str | None


class Trouble(BaseModel):
    """Something that goes wrong beside the requests; it goes away when it works again."""

    what: str
    since: float
    to_do: str


class Snapshot(BaseModel):
    """What the background worker last computed."""

    at: float | None
    answers: int
    by: str
    seconds: float
    entropy: list[int]  # histogram of the tasks' entropies, ten bins from 0 to log n_labels
    confidence: list[int]  # of the top label's probability, ten bins from 0 to 1
    label_shares: dict[str, float]
    pending: bool  # whether newer answers wait for the next one
    recomputing: bool  # whether somebody was excluded or taken back since: what is shown still counts as before
    troubles: list[Trouble]  # what keeps the background from doing its work, the oldest first


class ChangeState(Model):
    state: State


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


class Exclusion(BaseModel):
    """Somebody who was left out, and why; `lifted` where an owner has taken it back."""

    exclusion: str
    worker: str
    rule: str
    reason: str
    at: float
    lifted: float | None


class Exclusions(BaseModel):
    exclusions: list[Exclusion]
    rules: list[str]  # of the study
    next: str | None


class PayLine(BaseModel):
    """What one person is paid, as exact decimals; `reasons` say how it came about."""

    worker: str
    answers: int
    active_minutes: str
    total_minutes: str
    matched: int
    compared: int  # answers to tasks that others have answered too
    base: str  # for taking part and for the time
    bonus: str
    total: str
    reasons: list[str]


class PayPage(BaseModel):
    """The pay sheet as the background last computed it; by pseudonym, never by a platform's id."""

    lines: list[PayLine]
    currency: str
    total: str  # over all people
    people: int
    next: str | None
