"""Routes of owners that show results: progress, tasks, workers, agreement, times, snapshots, pay.

A SameSite cookie identifies the owner; writes also need the session's CSRF token and the studio's Origin.
"""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from fastapi import APIRouter, Depends
from fastapi.concurrency import run_in_threadpool
from sqlalchemy import Connection

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import response_builders as responses
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.route_dependencies import StudioDep, get_owner_session_from_cookie
from plurivox.web.api.schema_fields import Id
from plurivox.web.open_study import Studio
from plurivox.web.services.platform_admission import platforms_that_admit_everyone
from plurivox.web.services.task_soft_label import explain_soft_label
from plurivox.web.store.report import (
    stored_pay_sheet,
    stored_soft_labels_and_task_list,
    study_progress,
    task_detail,
    worker_scores_and_flags,
)
from plurivox.web.store.report.result_snapshots import get_latest_or_default_result_snapshot
from plurivox.web.store.report.statistics_classes_and_queries import ArmResult

router = APIRouter(
    prefix="/api/owner",
    tags=["owners"],
    responses=s.ERROR_RESPONSES,
    dependencies=[Depends(get_owner_session_from_cookie)],
)


@router.get("/studies")
async def list_studies(studio: StudioDep) -> list[o.StudyLine]:
    """Return the study of this server as a list of one, with its configuration and counts."""
    return [
        responses.study_summary_response(studio.study, await studio.read(study_progress.get_study_state_and_counts))
    ]


@router.get("/progress")
async def get_study_progress(studio: StudioDep) -> study_progress.StudyProgress:
    """Return how many answers the study has and how many it needs, with counts by stratum, stage and hour."""
    return await studio.read(study_progress.study_progress)


@router.get("/tasks")
async def list_tasks(
    studio: StudioDep,
    after: o.After = None,
    limit: o.Limit = 50,
    order: stored_soft_labels_and_task_list.Order = "name",
    prefix: o.Prefix = "",
) -> stored_soft_labels_and_task_list.TaskPage:
    """Return a page of tasks with their labels for truth and people; with `prefix`, of those that begin with it, by name."""
    return await studio.read(
        partial(
            stored_soft_labels_and_task_list.get_page_of_tasks, after=after, limit=limit, order=order, prefix=prefix
        )
    )


@router.get("/tasks/{task}")
async def get_task_with_answers(task: Id, studio: StudioDep) -> o.TaskDetail:
    """Return a task, its soft labels (truth and people), how they were made, and every answer with what it became."""
    detail = await studio.read(partial(task_detail.get_task_with_soft_label_and_all_answers, task_id=task))
    snapshot = await studio.read(get_latest_or_default_result_snapshot)
    return responses.task_detail_response(
        studio.study, detail, await run_in_threadpool(explain_soft_label, studio.study, detail, snapshot)
    )


@router.get("/workers")
async def list_workers(
    studio: StudioDep,
    after: o.After = None,
    limit: o.Limit = 50,
    order: worker_scores_and_flags.WorkerOrder = "worker",
    prefix: o.Prefix = "",
) -> o.Workers:
    """Return a page of workers with their scores, by pseudonym or by score, the worst first; `prefix` selects pseudonyms."""
    page = await studio.read(
        partial(worker_scores_and_flags.get_page_of_workers, after=after, limit=limit, order=order, prefix=prefix)
    )
    return responses.worker_list_response(studio.study, page)


@router.get("/agreement")
async def get_worker_agreement(studio: StudioDep) -> o.Agreement:
    """Return the agreement between workers, and of workers with themselves on repeats."""
    return responses.agreement_response(await studio.read(get_latest_or_default_result_snapshot))


@router.get("/times")
async def get_median_times(studio: StudioDep) -> o.Times:
    """Return the median times of workers: per stage, per answer, and by position of the task."""
    return responses.median_times_response(await studio.read(get_latest_or_default_result_snapshot))


@router.get("/forms")
async def compare_forms(studio: StudioDep) -> o.FormsCompared:
    """Compare the arms of a study with several forms: time, dropout and quality of the answers."""
    latest = await studio.read(get_latest_or_default_result_snapshot)
    arms = [asdict(one) for one in await studio.read(partial(_arms_with_people_as_of_now, studio, latest.forms))]
    return o.FormsCompared.model_validate({"arms": arms, "at": latest.at})


def _arms_with_people_as_of_now(studio: Studio, arms: Sequence[ArmResult], connection: Connection) -> list[ArmResult]:
    """Return the results of the arms with the people as of now."""
    from plurivox.web.jobs.arm_people import with_people_as_of_now  # imports scipy, which other routes do not need

    return with_people_as_of_now(connection, studio.study, arms)


@router.get("/flagged")
async def list_flagged_answers(studio: StudioDep, after: o.After = None, limit: o.Limit = 50) -> o.Flagged:
    """Return a page of the flagged answers of the study, the newest first."""
    page = await studio.read(partial(worker_scores_and_flags.get_page_of_flagged_answers, after=after, limit=limit))
    return responses.flagged_answers_response(studio.study, page)


@router.get("/snapshot")
async def get_snapshot_state(studio: StudioDep) -> o.BackgroundState:
    """Return the figures of the latest snapshot (entropy, confidence, label shares), whether it is stale, and alerts."""
    return responses.latest_snapshot_and_alerts_response(
        studio.study,
        await studio.read(study_progress.get_snapshot_whether_stale_and_alerts),
        [*studio.alerts.values()],
        await studio.read(partial(platforms_that_admit_everyone, study=studio.study)),
    )


@router.get("/pay")
async def get_pay_page(studio: StudioDep, after: o.After = None, limit: o.Limit = 50) -> o.PayPage:
    """Return a page of the pay sheet of the latest snapshot, by pseudonym."""
    page = await studio.read(partial(stored_pay_sheet.get_page_of_pay_sheet, after=after, limit=limit))
    return responses.pay_page_response(page, studio.study.pay)
