"""Functions that convert dataclasses of services and store to response schemas of the API (for tasks and answers see
answer_schemas)."""

from collections.abc import Iterable
from dataclasses import asdict

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.task_and_answer_schemas import Progress, Task
from plurivox.web.services.worker_completion import Completion
from plurivox.web.services.worker_stages import CurrentStage
from plurivox.web.store.collect.excluded_workers import ExclusionPage
from plurivox.web.store.report.background_alerts import Alert
from plurivox.web.store.report.result_snapshots import Snapshot
from plurivox.web.store.report.stored_pay_sheet import PayPage
from plurivox.web.store.report.study_progress import BackgroundState, StudyCounts
from plurivox.web.store.report.task_detail import TaskDetail
from plurivox.web.study.config import Study
from plurivox.web.study.question_forms import CHIPS

TEXTS = ("consent", "instructions", "debrief")  # stages that show a text of study.toml


# ---- workers


def inputs_asked_for_response(study: Study) -> s.QuestionType:
    """Return what the task page of a study asks a worker for: number of labels, percents, ticks, chips."""
    return s.QuestionType(
        **vars(study.labels_percents_and_ticks_asked_for), chips=study.chips if study.form == CHIPS else 0
    )


def worker_state_response(study: Study, current: CurrentStage) -> s.WorkerState:
    """Return the response with all that a worker's page needs: stage, progress, labels, phrases, in the worker's arm."""
    worker, sitting = current.worker, current.sitting
    study = study.config_of_arm(worker.arm)
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
        stages=study.list_stages(),
        progress=Progress.progress_in_sitting(study, sitting),
        labels=worker.order_labels_randomly_by_worker_seed(study.labels),
        form=study.form,
        asks=inputs_asked_for_response(study),
        wording=study.wording,
        chips=study.chips,
        exclude_by=study.labels_percents_and_ticks_asked_for.ticks or "never",
        phrases=study.task_page_phrases(),
        text=text,
        quiz=quiz if worker.stage == "quiz" else [],
        image_pixels=study.image_pixels,
        submit_early=study.submit_early,
    )


def worker_completion_response(completion: Completion) -> s.CompletionResponse:
    """Return the response for a worker at the last stage: completion code, address or form."""
    return s.CompletionResponse.model_validate(asdict(completion))


# ---- owners


def study_summary_response(study: Study, counts: StudyCounts) -> o.StudyLine:
    """Return the response that sums up a study: name, form, arms, labels, and counts of tasks, workers and answers."""
    return o.StudyLine(
        name=study.name,
        title=study.title or study.name,
        form=study.form,
        arms=[one.name for one in study.arms],
        labels=study.labels,
        **vars(counts),
    )


def task_detail_response(detail: TaskDetail) -> o.TaskDetail:
    """Return the response with one task: content, soft label and every answer."""
    return o.TaskDetail(
        line=detail.line,
        task=Task.from_shown_task(detail.shown),
        soft=detail.soft,
        answers=[o.TaskAnswer.model_validate(answer, from_attributes=True) for answer in detail.answers],
    )


def agreement_response(snapshot: Snapshot) -> o.Agreement:
    """Return the response with the agreement between workers that a snapshot contains."""
    return o.Agreement(**vars(snapshot.agreement), at=snapshot.at)


def median_times_response(snapshot: Snapshot) -> o.Times:
    """Return the response with the median times per stage and per answer that a snapshot contains."""
    return o.Times(**vars(snapshot.times), stages=snapshot.stages, at=snapshot.at)


def latest_snapshot_and_alerts_response(state: BackgroundState, unsaved_alerts: Iterable[Alert]) -> o.BackgroundState:
    """Return the response with the figures of the latest snapshot, whether it is stale, and all alerts."""
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
        troubles=[o.Alert.model_validate(one, from_attributes=True) for one in (*unsaved_alerts, *state.alerts)],
    )


def pay_page_response(page: PayPage, currency: str) -> o.PayPage:
    """Return the response with a page of the pay sheet: pay of each worker, currency and total."""
    return o.PayPage(lines=page.lines, currency=currency, total=page.total, people=page.people, next=page.next)


def excluded_workers_page_response(page: ExclusionPage, study: Study) -> o.Exclusions:
    """Return the response with a page of excluded workers and the exclusion rules of the study."""
    return o.Exclusions(exclusions=page.exclusions, rules=study.exclude.rules, next=page.next)
