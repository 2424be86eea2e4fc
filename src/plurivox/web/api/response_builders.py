"""Functions that convert dataclasses of services and store to response schemas of the API (for tasks and answers see
answer_schemas)."""

from collections.abc import Iterable
from dataclasses import asdict

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.task_and_answer_schemas import Progress, ShownMark, Task
from plurivox.web.services.platform_admission import PlatformAccess
from plurivox.web.services.report_requests import ReportOverview
from plurivox.web.services.task_soft_label import WHICH_ANSWERS, SoftLabelExplained, explain_truth_and_people
from plurivox.web.services.worker_completion import Completion
from plurivox.web.services.worker_stages import CurrentStage
from plurivox.web.store.collect.excluded_workers import ExclusionPage
from plurivox.web.store.report.answer_kinds import SOFT_LABEL_KINDS
from plurivox.web.store.report.background_alerts import Alert
from plurivox.web.store.report.report_pages import ReportJob, ReportPage
from plurivox.web.store.report.result_snapshots import Snapshot
from plurivox.web.store.report.stored_pay_sheet import PayPage
from plurivox.web.store.report.study_progress import BackgroundState, StudyCounts
from plurivox.web.store.report.task_detail import TaskDetail
from plurivox.web.store.report.worker_scores_and_flags import FlaggedPage, WorkerPage
from plurivox.web.study.answer_flags import flag_meanings
from plurivox.web.study.completion_pay_exclusion_config import PLATFORM_TITLE, Pay, PlatformName
from plurivox.web.study.config import Study
from plurivox.web.study.platforms_that_admit_everyone import alert_and_advice_if_platform_admits_everyone
from plurivox.web.study.question_forms import CHIPS
from plurivox.workflows import TRUTH_AND_PEOPLE

PROLIFIC_FIELDS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")  # of the address to enter at Prolific


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
    if current.state != "open" and worker.stage != "done":
        text = study.texts.closed
    else:
        texts = {"consent": study.texts.consent, "debrief": study.texts.debrief}
        texts |= dict.fromkeys(("instructions", "quiz"), study.instructions)  # people can read them again in the check
        text = texts.get(worker.stage, "")
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
        quiz_tries_left=_quiz_tries_left_or_none(study, current),
        practice_over=current.practice_is_over,
        image_pixels=study.image_pixels,
        submit_early=study.submit_early,
    )


def _quiz_tries_left_or_none(study: Study, current: CurrentStage) -> int | None:
    """Return how many tries of the quiz a worker has left; None at other stages and without a limit."""
    limit = study.exclude.quiz_tries
    if current.worker.stage != "quiz" or not limit or current.failed_quiz_tries is None:
        return None
    return max(1, limit - current.failed_quiz_tries)


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


def task_detail_response(study: Study, detail: TaskDetail, explained: SoftLabelExplained) -> o.TaskDetail:
    """Return the response with one task: content, soft labels, how they were made, and every answer with what it became."""
    pairs = zip(detail.answers, explained.distributions, strict=True)
    return o.TaskDetail(
        line=detail.line,
        task=Task.from_shown_task(detail.shown),
        soft=detail.soft,
        truth=detail.truth,
        difference=TRUTH_AND_PEOPLE,
        meanings=flag_meanings(study, [name for answer in detail.answers for name in answer.flags]),
        soft_label_answers=detail.n,
        pending=detail.is_outdated or detail.n != explained.n_answers,
        labels=explained.labels,
        further_labels=explained.n_further_labels,
        gamma=explained.has_gamma,
        how=explained.how,
        answers=[
            o.TaskAnswer.model_validate(
                {
                    **{
                        **vars(answer),
                        "marks": [ShownMark.model_validate(one, from_attributes=True) for one in answer.marks],
                    },
                    "in_soft_label": answer.counted_as in SOFT_LABEL_KINDS,
                    "becomes": became.top,
                    "becomes_further": became.n_further,
                    "becomes_further_p": became.p_further,
                }
            )
            for answer, became in pairs
        ],
    )


def worker_list_response(study: Study, page: WorkerPage) -> o.Workers:
    """Return the response with a page of workers, and what their flags mean."""
    return o.Workers(
        **vars(page),
        too_fast_seconds=study.too_fast_seconds,
        meanings=flag_meanings(study, [name for line in page.workers for name in line.flag_counts]),
    )


def flagged_answers_response(study: Study, page: FlaggedPage) -> o.Flagged:
    """Return the response with a page of flagged answers, and what the flags mean."""
    names = [*page.counts, *(name for answer in page.flagged for name in answer.flags)]
    return o.Flagged(**vars(page), meanings=flag_meanings(study, names))


def agreement_response(snapshot: Snapshot) -> o.Agreement:
    """Return the response with the agreement between workers that a snapshot contains."""
    return o.Agreement(**vars(snapshot.agreement), at=snapshot.at)


def median_times_response(snapshot: Snapshot) -> o.Times:
    """Return the response with the median times per stage and per answer that a snapshot contains."""
    return o.Times(**vars(snapshot.times), stages=snapshot.stages, at=snapshot.at)


def platform_access_response(access: PlatformAccess, base_url: str) -> o.PlatformAccess:
    """Return the response with a platform that is switched on: its address for the platform, and the admitted studies."""
    fields = "&".join(f"{name}={{{{%{name}%}}}}" for name in PROLIFIC_FIELDS)
    studies = [o.AdmittedStudy(study=one, in_study_toml=True) for one in access.in_study_toml]
    studies += [o.AdmittedStudy(study=one.study, in_study_toml=False) for one in access.added]
    return o.PlatformAccess(
        name=access.name,
        title=PLATFORM_TITLE[access.name],
        address=f"{base_url}/join?{fields}" if access.name == "prolific" else f"{base_url}/join",
        studies=studies,
        admits_everyone=access.admits_everyone,
    )


def admits_everyone_alert(study: Study, platform: PlatformName) -> o.Alert:
    """Return the alert that anyone can enter by the link of a platform, with what the owner can do."""
    what, to_do = alert_and_advice_if_platform_admits_everyone(study, platform)
    return o.Alert(what=what, since=None, to_do=to_do)


def latest_snapshot_and_alerts_response(
    study: Study, state: BackgroundState, unsaved_alerts: Iterable[Alert], open_platforms: Iterable[PlatformName] = ()
) -> o.BackgroundState:
    """Return the response with the figures of the latest snapshot, whether it is stale, and all alerts."""
    latest = state.latest
    return o.BackgroundState(
        at=latest.at,
        answers=latest.answers,
        by=latest.by,
        truth_by=latest.truth_by,
        difference=TRUTH_AND_PEOPLE,
        how=" ".join([*explain_truth_and_people(latest), WHICH_ANSWERS]),
        seconds=latest.seconds,
        entropy=latest.entropy,
        confidence=latest.confidence,
        label_shares=latest.label_shares,
        truth_entropy=latest.truth_entropy,
        truth_confidence=latest.truth_confidence,
        truth_label_shares=latest.truth_label_shares,
        pending=state.is_stale,
        recomputing=state.is_recomputing,
        troubles=[
            *(admits_everyone_alert(study, one) for one in open_platforms),
            *(o.Alert.model_validate(one, from_attributes=True) for one in (*unsaved_alerts, *state.alerts)),
        ],
    )


def pay_page_response(page: PayPage, rules: Pay) -> o.PayPage:
    """Return the response with a page of the pay sheet: pay of each worker, currency, total and limit of time."""
    return o.PayPage(
        lines=page.lines,
        currency=rules.currency,
        total=page.total,
        without_limit=rules.pays_time_without_limit,
        people=page.people,
        next=page.next,
    )


def excluded_workers_page_response(page: ExclusionPage, study: Study) -> o.Exclusions:
    """Return the response with a page of excluded workers and the exclusion rules of the study."""
    return o.Exclusions(exclusions=page.exclusions, rules=study.exclude.rules, next=page.next)


def reports_response(overview: ReportOverview) -> o.Reports:
    """Return the response with the report of each question, those being made, and why none can be made."""
    reports = [
        o.Report(
            question=question,
            page=_made_report(overview.pages.get(question)),
            job=_report_in_the_making(overview.jobs.get(question)),
            commands=commands,
        )
        for question, commands in overview.commands.items()
    ]
    return o.Reports(reports=reports, obstacle=overview.obstacle)


def _made_report(page: ReportPage | None) -> o.MadeReport | None:
    """Return when a report was made and from which answers; None for None."""
    if page is None:
        return None
    votes = page.votes
    return o.MadeReport(
        made=page.made,
        votes_read=votes.read_at,
        answers=votes.answers,
        people=votes.people,
        excluded=votes.excluded,
        outdated=page.is_outdated,
    )


def _report_in_the_making(job: ReportJob | None) -> o.ReportInTheMaking | None:
    """Return the state of a report that an owner has asked for; None for None."""
    return None if job is None else o.ReportInTheMaking.model_validate(job, from_attributes=True)
