"""Dataclasses of services and of the store as schemas of the API, for workers and for owners; tasks and answers are in
answer_schemas."""

from collections.abc import Iterable
from dataclasses import asdict

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.answer_schemas import Progress, Task
from plurivox.web.services.complete_study import Completion
from plurivox.web.services.worker_stages import CurrentStage
from plurivox.web.store.collect.excluded_workers import ExclusionPage
from plurivox.web.store.report.background_alerts import Alert
from plurivox.web.store.report.pay_sheet import PayPage
from plurivox.web.store.report.snapshots import Snapshot
from plurivox.web.store.report.study_progress import BackgroundState, StudyCounts
from plurivox.web.store.report.task_detail import TaskDetail
from plurivox.web.study.config import Study
from plurivox.web.study.forms import CHIPS

TEXTS = ("consent", "instructions", "debrief")  # stages that show a text of their own


# ---- workers


def asks_of(study: Study) -> s.Asks:
    """What a study asks for in every task."""
    return s.Asks(**vars(study.asks), chips=study.chips if study.form == CHIPS else 0)


def me_of(study: Study, current: CurrentStage) -> s.Me:
    """Everything a worker's page needs."""
    worker, sitting = current.worker, current.sitting
    study = study.in_arm(worker.arm)
    if current.state != "open" and worker.stage in ("practice", "tasks"):
        text = study.texts.closed
    else:
        text = getattr(study.texts, worker.stage) if worker.stage in TEXTS else ""
    if sitting is not None and sitting.number == 0 and worker.stage != "practice":
        sitting = None  # a practice sitting tells nothing of the tasks that follow it
    quiz = [s.QuizQuestion(question=one.question, choices=one.choices) for one in study.quiz]
    return s.Me(
        worker=worker.pseudonym,
        study=study.name,
        title=study.title or study.name,
        state=current.state,
        stage=worker.stage,
        stages=study.stages(),
        progress=Progress.of(study, sitting),
        labels=worker.label_order(study.labels),
        form=study.form,
        asks=asks_of(study),
        wording=study.wording,
        chips=study.chips,
        exclude_by=study.asks.ticks or "never",
        phrases=study.phrases(),
        text=text,
        quiz=quiz if worker.stage == "quiz" else [],
        image_pixels=study.image_pixels,
        submit_early=study.submit_early,
    )


def done_of(completion: Completion) -> s.Done:
    """The end of a person who is at the last stage."""
    return s.Done.model_validate(asdict(completion))


# ---- owners


def study_line(study: Study, counts: StudyCounts) -> o.StudyLine:
    """The study in a line."""
    return o.StudyLine(
        name=study.name,
        title=study.title or study.name,
        form=study.form,
        arms=[one.name for one in study.arms],
        labels=study.labels,
        **vars(counts),
    )


def task_detail(one: TaskDetail) -> o.TaskDetail:
    """One task with every answer to it."""
    return o.TaskDetail(
        line=one.line,
        task=Task.of(one.shown),
        soft=one.soft,
        answers=[o.OneAnswer.model_validate(answer, from_attributes=True) for answer in one.answers],
    )


def agreement(latest: Snapshot) -> o.Agreement:
    """How far people agree, as of the latest snapshot."""
    return o.Agreement(**vars(latest.agreement), at=latest.at)


def times(latest: Snapshot) -> o.Times:
    """Where the time goes, as of the latest snapshot."""
    return o.Times(**vars(latest.times), stages=latest.stages, at=latest.at)


def background_state(state: BackgroundState, unwritten: Iterable[Alert]) -> o.BackgroundState:
    """The latest snapshot, and what goes wrong; `unwritten` is what the store could not be told."""
    latest = state.latest
    return o.BackgroundState(
        at=latest.at,
        answers=latest.answers,
        by=latest.by,
        seconds=latest.seconds,
        entropy=latest.entropy,
        confidence=latest.confidence,
        label_shares=latest.label_shares,
        pending=state.is_stale,
        recomputing=state.is_recomputing,
        troubles=[o.Alert.model_validate(one, from_attributes=True) for one in (*unwritten, *state.alerts)],
    )


def pay_page(page: PayPage, currency: str) -> o.PayPage:
    """A part of the pay sheet."""
    return o.PayPage(lines=page.lines, currency=currency, total=page.total, people=page.people, next=page.next)


def exclusions(page: ExclusionPage, study: Study) -> o.Exclusions:
    """A part of the list of exclusions, and the rules of the study."""
    return o.Exclusions(exclusions=page.exclusions, rules=study.exclude.rules, next=page.next)
