"""Routes of owners that show results: progress, tasks, workers, agreement, times, snapshots, pay.

A SameSite cookie identifies the owner; writes also need the session's CSRF token and the studio's Origin.
"""

from dataclasses import asdict
from functools import partial

from fastapi import APIRouter, Depends

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import response_builders as present
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.auth import StudioDep, current_owner
from plurivox.web.api.schema_fields import Id
from plurivox.web.store.report import pay_sheet, soft_labels, study_progress, task_detail, worker_scores_and_flags
from plurivox.web.store.report.result_snapshots import latest_snapshot

router = APIRouter(
    prefix="/api/owner", tags=["owners"], responses=s.ERROR_RESPONSES, dependencies=[Depends(current_owner)]
)


@router.get("/studies")
async def studies(studio: StudioDep) -> list[o.StudyLine]:
    """List the study of this application."""
    return [present.study_line(studio.study, await studio.read(study_progress.study_counts))]


@router.get("/progress")
async def progress(studio: StudioDep) -> study_progress.StudyProgress:
    """Return how many answers there are and how many are wanted, with counts by stratum, stage and hour."""
    return await studio.read(study_progress.study_progress)


@router.get("/tasks")
async def tasks(
    studio: StudioDep,
    after: o.After = None,
    limit: o.Limit = 50,
    order: soft_labels.Order = "name",
    prefix: o.Prefix = "",
) -> soft_labels.TaskPage:
    """List tasks with their current soft labels; with `prefix`, those whose names begin with it, by name."""
    return await studio.read(partial(soft_labels.task_page, after=after, limit=limit, order=order, prefix=prefix))


@router.get("/tasks/{task}")
async def task(task: Id, studio: StudioDep) -> o.TaskDetail:
    """Return a task, its soft label and every answer to it."""
    return present.task_detail(await studio.read(partial(task_detail.task_detail, task_id=task)))


@router.get("/workers")
async def workers(
    studio: StudioDep,
    after: o.After = None,
    limit: o.Limit = 50,
    order: worker_scores_and_flags.WorkerOrder = "worker",
    prefix: o.Prefix = "",
) -> worker_scores_and_flags.WorkerPage:
    """List workers with their scores, by pseudonym or the largest first; with `prefix`, pseudonyms that begin with it."""
    return await studio.read(
        partial(worker_scores_and_flags.worker_page, after=after, limit=limit, order=order, prefix=prefix)
    )


@router.get("/agreement")
async def agreement(studio: StudioDep) -> o.Agreement:
    """Return the agreement between workers, and of workers with themselves on repeats."""
    return present.agreement(await studio.read(latest_snapshot))


@router.get("/times")
async def times(studio: StudioDep) -> o.Times:
    """Return median times per stage, per answer, and by position of the task."""
    return present.times(await studio.read(latest_snapshot))


@router.get("/forms")
async def forms(studio: StudioDep) -> o.FormsCompared:
    """Compare the arms of a study with several forms: time, dropout and quality of the answers."""
    latest = await studio.read(latest_snapshot)
    arms = [asdict(one) for one in latest.forms]  # JSON has lists instead of tuples; pydantic converts them
    return o.FormsCompared.model_validate({"arms": arms, "at": latest.at})


@router.get("/flagged")
async def flagged(studio: StudioDep, after: o.After = None, limit: o.Limit = 50) -> worker_scores_and_flags.FlaggedPage:
    """List flagged answers, the newest first."""
    return await studio.read(partial(worker_scores_and_flags.flagged_page, after=after, limit=limit))


@router.get("/snapshot")
async def snapshot(studio: StudioDep) -> o.BackgroundState:
    """Return the figures of the latest snapshot, whether it is stale, and alerts."""
    return present.background_state(await studio.read(study_progress.background_state), [*studio.alerts.values()])


@router.get("/pay")
async def pay(studio: StudioDep, after: o.After = None, limit: o.Limit = 50) -> o.PayPage:
    """Return a page of the pay sheet of the latest snapshot, by pseudonym."""
    page = await studio.read(partial(pay_sheet.pay_page, after=after, limit=limit))
    return present.pay_page(page, studio.study.pay.currency)
