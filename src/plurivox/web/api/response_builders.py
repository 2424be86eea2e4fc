"""Functions that convert dataclasses of services and store to response schemas of the API (for tasks and answers see
answer_schemas)."""

from collections.abc import Iterable
from dataclasses import asdict

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.answer_schemas import Progress, Task
from plurivox.web.services.worker_completion import Completion
from plurivox.web.services.worker_stages import CurrentStage
from plurivox.web.store.collect.excluded_workers import ExclusionPage
from plurivox.web.store.report.background_alerts import Alert
from plurivox.web.store.report.pay_sheet import PayPage
from plurivox.web.store.report.result_snapshots import Snapshot
from plurivox.web.store.report.study_progress import BackgroundState, StudyCounts
from plurivox.web.store.report.task_detail import TaskDetail
from plurivox.web.study.config import Study
from plurivox.web.study.question_forms import CHIPS

TEXTS = ("consent", "instructions", "debrief")  # stages that show a text of study.toml


# ---- workers


def question_type(study: Study) -> s.QuestionType:
    """Return what the form of a study asks for."""
    return s.QuestionType(**vars(study.question), chips=study.chips if study.form == CHIPS else 0)


def worker_state(study: Study, current: CurrentStage) -> s.WorkerState:
    """Return everything a worker's page needs, in the worker's arm of the study."""
    worker, sitting = current.worker, current.sitting
    study = study.in_arm(worker.arm)
    if current.state != "open" and worker.stage in ("practice", "tasks"):
        text = study.texts.closed
    else:
        text = getattr(study.texts, worker.stage) if worker.stage in TEXTS else ""
    if sitting is not None and sitting.number == 0 and worker.stage != "practice":
        sitting = None  # the practice sitting is over, the first sitting has not begun
    quiz = [s.QuizQuestion(question=one.question, choices=one.choices) for one in study.quiz]
    return s.WorkerState(
        worker=worker.pseudonym,
        study=study.name,
        title=study.title or study.name,
        state=current.state,
        stage=worker.stage,
        stages=study.stages(),
        progress=Progress.of(study, sitting),
        labels=worker.order_labels(study.labels),
        form=study.form,
        asks=question_type(study),
        wording=study.wording,
        chips=study.chips,
        exclude_by=study.question.ticks or "never",
        phrases=study.phrases(),
        text=text,
        quiz=quiz if worker.stage == "quiz" else [],
        image_pixels=study.image_pixels,
        submit_early=study.submit_early,
    )


def completion_response(completion: Completion) -> s.CompletionResponse:
    """Return the response of a worker at the last stage."""
    return s.CompletionResponse.model_validate(asdict(completion))


# ---- owners


def study_line(study: Study, counts: StudyCounts) -> o.StudyLine:
    """Return the summary of a study with its counts."""
    return o.StudyLine(
        name=study.name,
        title=study.title or study.name,
        form=study.form,
        arms=[one.name for one in study.arms],
        labels=study.labels,
        **vars(counts),
    )


def task_detail(one: TaskDetail) -> o.TaskDetail:
    """Return a task with its soft label and every answer."""
    return o.TaskDetail(
        line=one.line,
        task=Task.of(one.shown),
        soft=one.soft,
        answers=[o.TaskAnswer.model_validate(answer, from_attributes=True) for answer in one.answers],
    )


def agreement(latest: Snapshot) -> o.Agreement:
    """Return the agreement between workers of the latest snapshot."""
    return o.Agreement(**vars(latest.agreement), at=latest.at)


def times(latest: Snapshot) -> o.Times:
    """Return the median times per stage and answer of the latest snapshot."""
    return o.Times(**vars(latest.times), stages=latest.stages, at=latest.at)


def background_state(state: BackgroundState, unwritten: Iterable[Alert]) -> o.BackgroundState:
    """Return the figures of the latest snapshot and all alerts; `unwritten` are alerts that are not in the store."""
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
    """Return a page of the pay sheet."""
    return o.PayPage(lines=page.lines, currency=currency, total=page.total, people=page.people, next=page.next)


def exclusions(page: ExclusionPage, study: Study) -> o.Exclusions:
    """Return a page of the list of exclusions, and the exclusion rules of the study."""
    return o.Exclusions(exclusions=page.exclusions, rules=study.exclude.rules, next=page.next)
