"""Request and response bodies of the owners' routes; some routes return dataclasses of the store instead."""

from typing import Annotated, Any

from fastapi import Query
from pydantic import BaseModel, Field

from plurivox.web.api.schema_fields import PlainText, PlatformId, RequestModel, SignedText
from plurivox.web.api.task_and_answer_schemas import ShownMark, Task
from plurivox.web.services.task_soft_label import LabelShare, LabelSummary
from plurivox.web.store.collect.excluded_workers import Exclusion
from plurivox.web.store.report.answer_kinds import AnswerKind
from plurivox.web.store.report.report_pages import ReportQuestion
from plurivox.web.store.report.statistics_classes_and_queries import ArmResult
from plurivox.web.store.report.stored_pay_sheet import PayLine
from plurivox.web.store.report.stored_soft_labels_and_task_list import LabelProbability, SoftLabel, TaskLine
from plurivox.web.store.report.worker_scores_and_flags import DoubtLimits, FlaggedAnswer, WorkerLine
from plurivox.web.store.study_state import StudyState
from plurivox.web.study.completion_pay_exclusion_config import PlatformName
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
    form: str  # the form of `elicit` that reads it
    counted_as: AnswerKind
    in_soft_label: bool  # whether an answer of this kind is part of the soft labels
    flags: list[str]
    becomes: list[LabelShare]  # the distribution it became, the largest share first; empty: it names no label
    becomes_further: int  # labels with a share beside those in `becomes`
    becomes_further_p: float  # their shares together


class TaskDetail(BaseModel):
    """Response body with one task: its soft labels, how they were made, votes and beliefs by label, and every answer to it.

    `soft` is the soft label for people, the share of people who would give each label; `truth` is the probability that each
    label is right. `difference` says so in a sentence to show beside them.
    """

    line: TaskLine
    task: Task
    soft: list[SoftLabel]  # people
    truth: list[LabelProbability]  # empty if not computed yet
    difference: str
    soft_label_answers: int  # answers that `soft` is computed from
    pending: bool  # whether answers were added, changed or excluded since `soft` was computed
    labels: list[LabelSummary]
    further_labels: int  # labels of the study beside those in `labels`
    gamma: bool  # whether answers share a part among labels they do not name; beliefs are shown without it
    how: list[str]  # how the soft labels were made, in sentences
    answers: list[TaskAnswer]
    meanings: dict[str, str]  # of the flags: flag -> sentence


class Workers(BaseModel):
    """Response body: a page of the list of workers, from when on a score is doubtful, and what the flags mean.

    Of the scores, `agreement-with-rest` (the mean share of the others who gave the same label) and `repeat-consistency` (the
    share of repeats with the same label) are doubtful if low, `too-fast` (the share of answers in fewer seconds than
    `too_fast_seconds`) if high.
    """

    workers: list[WorkerLine]
    limits: DoubtLimits
    too_fast_seconds: float
    meanings: dict[str, str]  # of the flags: flag -> sentence
    next: str | None


class Flagged(BaseModel):
    """Response body: a page of the list of flagged answers, the number of answers per flag, and what the flags mean."""

    flagged: list[FlaggedAnswer]
    counts: dict[str, int]
    meanings: dict[str, str]  # flag -> sentence
    next: str | None


class Agreement(BaseModel):
    """Response body: agreement between workers (`scores` by name), of workers with themselves on repeats, and by hour."""

    scores: dict[str, float | None]
    repeats: int  # left out of `scores` and `by_hour`
    repeats_compared: int  # both answers name a label
    repeats_same_top: float | None  # share of these with the same top label
    by_hour: list[tuple[float, float, int]]  # (hour, share of answers with the task's current top label, answers)
    median_of_workers: float | None  # median over workers of their agreement with the others
    at: float | None


class Times(BaseModel):
    """Response body: median times in seconds, per stage, and of an answer by part and by position, from the latest snapshot."""

    stages: dict[str, float]
    first_input: float | None
    top_label: float | None  # until the first label was picked
    active: float | None  # from shown to submitted, without hidden time
    hidden: float | None
    by_position: list[tuple[int, float, int]]  # learning curve: (position, median active seconds, answers)
    impossible: int  # answers left out, as their times are impossible
    at: float | None


class FormsCompared(BaseModel):
    """Response body: comparison of the arms of a study, each with another question form."""

    arms: list[ArmResult]  # empty if the study has one form, or before the first snapshot
    at: float | None


class Alert(BaseModel):
    """A failure of the background job, or a setting that puts the study at risk, shown until it is mended, with advice."""

    what: str
    since: float | None  # None: since the study was made
    to_do: str


class BackgroundState(BaseModel):
    """Response body: figures of the latest snapshot of the results, whether it is stale, and alerts.

    `entropy`, `confidence` and `label_shares` are of the soft labels for people; those with `truth_` are of the probabilities
    that labels are right. `difference` says what the two are, in a sentence to show beside them.
    """

    at: float | None
    answers: int
    by: str  # the aggregator for people
    truth_by: str  # the aggregator for truth; empty if truth is not computed yet
    difference: str
    how: str  # how the soft labels of a task are made, in one line
    seconds: float
    entropy: list[int]  # histogram of the tasks' entropies, ten bins from 0 to log n_labels
    confidence: list[int]  # histogram of the top label's share, ten bins from 0 to 1
    label_shares: dict[str, float]
    truth_entropy: list[int]
    truth_confidence: list[int]  # histogram of the probability of the label most probably right
    truth_label_shares: dict[str, float]
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


class AdmittedStudy(BaseModel):
    """A study at Prolific, or a HIT at MTurk, whose people are admitted; `in_study_toml`: it can only be removed there."""

    study: str
    in_study_toml: bool


class PlatformAccess(BaseModel):
    """A platform that is switched on: the address to enter there, and the studies whose people are admitted."""

    name: PlatformName
    title: str
    address: str
    studies: list[AdmittedStudy]  # none: nobody can enter, unless `admits_everyone`
    admits_everyone: bool  # a study made before ids were required: an invented id is enough to enter


class Invites(BaseModel):
    """Response body: all invitations, and the platforms whose people may enter."""

    invites: list[Invite]
    platforms: list[PlatformAccess]  # empty: by invitation only
    prolific: str  # study address for Prolific; empty if the study does not use Prolific
    mturk: str  # ExternalURL of MTurk's ExternalQuestion; empty if the study does not use MTurk


class ChangePlatformStudy(RequestModel):
    """Request body with a study at a platform (at MTurk: a HIT) whose people are admitted from now on, or no longer."""

    platform: PlatformName
    study: PlatformId


class AuditLine(BaseModel):
    """Line of the audit log, an action of an owner or a refused sign-in: when, who, what, and details."""

    at: float
    who: str
    what: str
    detail: dict[str, Any]


class Audit(BaseModel):
    """Response body: the audit log of owners' actions and of refused sign-ins, the newest first."""

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
    without_limit: bool  # whether time is paid without a limit
    people: int
    next: str | None


# ---- reports


class AskForReport(RequestModel):
    """Request body to have a report made: on what is true, or on what people say."""

    question: ReportQuestion


class MadeReport(BaseModel):
    """A report that was made: when, and from which answers."""

    made: float
    votes_read: float  # when its votes were read
    answers: int
    people: int
    excluded: int  # people whose answers are left out
    outdated: bool  # whether answers came, or people were excluded or reinstated, since


class ReportInTheMaking(BaseModel):
    """A report that an owner has asked for: it waits, is being made, or could not be made."""

    asked_by: str
    asked: float
    begun: float | None  # None: it waits
    step: int  # of `steps`, which is 0 at first
    steps: int
    failure: str  # why it could not be made and what to do; empty unless it failed


class Report(BaseModel):
    """The report on a question: the page that was made last, a new one in the making, and the commands that make it."""

    question: ReportQuestion
    page: MadeReport | None
    job: ReportInTheMaking | None
    commands: list[str]


class Reports(BaseModel):
    """Response body: the report of each question, and why none can be made now, with what to do (empty if one can)."""

    reports: list[Report]
    obstacle: str
