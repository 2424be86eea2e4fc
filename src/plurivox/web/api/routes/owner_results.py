"""Routes of owners that show results: progress, tasks, workers, agreement, times, snapshots, pay.

A SameSite cookie identifies the owner; writes need the token of the session and our own Origin.
"""

from functools import partial
from typing import Any

from fastapi import APIRouter
from sqlalchemy import Connection

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.auth import (
    OwnerDep,
    StudioDep,
)
from plurivox.web.api.parameters import FAULTS, After, Limit, Prefix
from plurivox.web.store.report import pagination, pay_sheet, study_progress
from plurivox.web.store.report.alerts import Trouble, all_told, leader_gone
from plurivox.web.store.report.snapshots import is_of_before, is_stale

router = APIRouter(prefix="/api/owner", tags=["owners"], responses=FAULTS)


@router.get("/studies")
async def studies(studio: StudioDep, owner: OwnerDep) -> list[o.StudyLine]:
    """The studies of this server."""
    del owner
    return [await studio.read(partial(study_progress.study_line, study=studio.study))]


@router.get("/progress")
async def progress(studio: StudioDep, owner: OwnerDep) -> o.StudyProgress:
    """How many answers there are and how many are wanted, by stratum, stage and hour."""
    del owner
    return await studio.read(study_progress.progress)


@router.get("/tasks")
async def tasks(
    studio: StudioDep,
    owner: OwnerDep,
    after: After = None,
    limit: Limit = 50,
    order: pagination.Order = "name",
    prefix: Prefix = "",
) -> o.TaskPage:
    """Tasks with their soft labels so far; with a prefix, those whose names begin with it, by name."""
    del owner
    return await studio.read(partial(pagination.task_page, after=after, limit=limit, order=order, prefix=prefix))


@router.get("/tasks/{task}")
async def task(task: s.Id, studio: StudioDep, owner: OwnerDep) -> o.TaskDetail:
    """One task, its soft label and every answer to it."""
    del owner
    return await studio.read(partial(study_progress.task_detail, task=task))


@router.get("/workers")
async def workers(
    studio: StudioDep,
    owner: OwnerDep,
    after: After = None,
    limit: Limit = 50,
    order: pagination.WorkerOrder = "worker",
    prefix: Prefix = "",
) -> o.WorkerPage:
    """Workers with their scores, by pseudonym or the largest first; with a prefix, whose pseudonyms begin with it."""
    del owner
    return await studio.read(partial(pagination.worker_page, after=after, limit=limit, order=order, prefix=prefix))


@router.get("/agreement")
async def agreement(studio: StudioDep, owner: OwnerDep) -> o.Agreement:
    """How far people agree, with each other and with themselves."""
    del owner
    at, _, body = await studio.read(study_progress.latest_snapshot)
    empty: dict[str, Any] = {"scores": {}, "repeats": 0, "repeats_same_top": None, "by_hour": []}
    return o.Agreement(**body.get("agreement", empty), at=at)


@router.get("/times")
async def times(studio: StudioDep, owner: OwnerDep) -> o.Times:
    """Where the time goes: by page, and by position of the task."""
    del owner
    at, _, body = await studio.read(study_progress.latest_snapshot)
    empty: dict[str, Any] = {"first_input": None, "top_label": None, "active": None, "hidden": None, "by_position": []}
    return o.Times(**body.get("times", empty), stages=body.get("stages", {}), at=at)


@router.get("/forms")
async def forms(studio: StudioDep, owner: OwnerDep) -> o.FormsCompared:
    """The forms of a study that asks in several, side by side: what answers cost and what they are worth."""
    del owner
    at, _, body = await studio.read(study_progress.latest_snapshot)
    return o.FormsCompared(arms=[o.ArmLine(**one) for one in body.get("forms", [])], at=at)


@router.get("/flagged")
async def flagged(studio: StudioDep, owner: OwnerDep, after: After = None, limit: Limit = 50) -> o.FlaggedPage:
    """Odd answers, the newest first."""
    del owner
    return await studio.read(partial(pagination.flagged_page, after=after, limit=limit))


@router.get("/snapshot")
async def snapshot(studio: StudioDep, owner: OwnerDep) -> o.Snapshot:
    """What the background last computed, and how old it is."""
    del owner

    return await studio.read(partial(_snapshot, troubles=list(studio.troubles.values())))


def _snapshot(connection: Connection, troubles: list[Trouble]) -> o.Snapshot:
    at, _, body = study_progress.latest_snapshot(connection)
    pending = is_stale(connection)
    gone = leader_gone(connection) if pending else None
    told = [*troubles, *all_told(connection), *([gone] if gone else [])]
    return o.Snapshot(
        at=at,
        answers=body.get("answers", 0),
        by=body.get("by", ""),
        seconds=body.get("seconds", 0.0),
        entropy=body.get("entropy", []),
        confidence=body.get("confidence", []),
        label_shares=body.get("label_shares", {}),
        pending=pending,
        recomputing=is_of_before(connection, body),
        troubles=[o.Trouble(what=one.what, since=one.since, to_do=one.to_do) for one in told],
    )


@router.get("/pay")
async def pay(studio: StudioDep, owner: OwnerDep, after: After = None, limit: Limit = 50) -> o.PayPage:
    """The pay sheet, by pseudonym, as the background last computed it."""
    del owner
    return await studio.read(partial(pay_sheet.page, study=studio.study, after=after, limit=limit))
