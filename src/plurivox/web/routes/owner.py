"""What owners see and do. A SameSite cookie says who it is; writes need the token of the session and our own Origin."""

import asyncio
from functools import partial
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Response
from fastapi.responses import FileResponse
from sqlalchemy import Connection
from starlette.background import BackgroundTask

from plurivox.web import owner_schemas as o
from plurivox.web import schemas as s
from plurivox.web.background import is_of_before, is_stale
from plurivox.web.context import Studio
from plurivox.web.doors import (
    INVITE,
    AddressDep,
    LimitsDep,
    LogInDep,
    OwnerDep,
    StudioDep,
    WritingOwner,
    cookie_of,
    may_set_up,
    set_cookie,
)
from plurivox.web.faults import Refused
from plurivox.web.guard import too_many
from plurivox.web.keys import number_of, shown
from plurivox.web.store import listing, owning, reports
from plurivox.web.store.troubles import Trouble, all_told, leader_gone

FAULTS: dict[int | str, dict[str, Any]] = {code: {"model": s.Fault} for code in (401, 403, 404, 409, 422, 429, 503)}
router = APIRouter(prefix="/api/owner", tags=["owners"], responses=FAULTS)
After = Annotated[str | None, Query(max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
Prefix = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
Limit = Annotated[int, Query(ge=1, le=500)]


@router.post("/setup", dependencies=[Depends(may_set_up)])
async def set_up(
    body: o.SetUp, response: Response, studio: StudioDep, limits: LimitsDep, address: AddressDep
) -> o.Session:
    """The first owner, by the one-time token of the terminal."""
    hidden = studio.keys.hidden(body.token)
    hashed = await limits.slowly.run(owning.hasher.hash, body.password)
    owner = await studio.write(partial(owning.set_up, hidden=hidden, name=body.name, password_hash=hashed))
    return await _begin(studio, response, owner, body.name, owning.place_of(studio.keys, address))


@router.post("/login")
async def log_in(
    body: o.LogIn, response: Response, studio: StudioDep, limits: LimitsDep, address: LogInDep
) -> o.Session:
    """Sign in by password. A name that is not there takes as long as a wrong password, and is counted alike."""
    place = owning.place_of(studio.keys, address)
    owner, hashed, known = await studio.read(partial(owning.password_of, name=body.name, place=place))
    if wait := limits.guesses.wait(body.name, address, known=known):
        raise too_many(wait)
    if not await limits.slowly.run(owning.fits, hashed, body.password) or owner is None:
        raise Refused(401, "wrong-password", "name or password is wrong")
    limits.guesses.right(body.name, address, known=known)
    return await _begin(studio, response, owner, body.name, place)


async def _begin(studio: Studio, response: Response, owner: int, name: str, place: str) -> o.Session:
    hours = studio.settings.session_hours
    begin = partial(owning.begin_session, keys=studio.keys, owner=owner, hours=hours, place=place)
    token, csrf = await studio.write(begin)
    set_cookie(response, studio.settings, token)
    return o.Session(name=name, csrf=csrf)


@router.post("/logout", status_code=204)
async def log_out(response: Response, studio: StudioDep, owner: WritingOwner) -> None:
    """Sign out: the session is gone, wherever its cookie may be."""
    await studio.write(partial(owning.end_session, session=owner))
    response.delete_cookie(cookie_of(studio.settings), path=studio.settings.prefix or "/")


@router.get("/session")
async def session(owner: OwnerDep) -> o.Session:
    """Who is signed in, and the token for writes."""
    return o.Session(name=owner.name, csrf=owner.csrf)


@router.get("/studies")
async def studies(studio: StudioDep, owner: OwnerDep) -> list[o.StudyLine]:
    """The studies of this server."""
    del owner
    return [await studio.read(partial(reports.study_line, study=studio.study))]


@router.get("/progress")
async def progress(studio: StudioDep, owner: OwnerDep) -> o.StudyProgress:
    """How many answers there are and how many are wanted, by stratum, stage and hour."""
    del owner
    return await studio.read(reports.progress)


@router.get("/tasks")
async def tasks(
    studio: StudioDep,
    owner: OwnerDep,
    after: After = None,
    limit: Limit = 50,
    order: listing.Order = "name",
    prefix: Prefix = "",
) -> o.TaskPage:
    """Tasks with their soft labels so far; with a prefix, those whose names begin with it, by name."""
    del owner
    return await studio.read(partial(listing.task_page, after=after, limit=limit, order=order, prefix=prefix))


@router.get("/tasks/{task}")
async def task(task: s.Id, studio: StudioDep, owner: OwnerDep) -> o.TaskDetail:
    """One task, its soft label and every answer to it."""
    del owner
    return await studio.read(partial(reports.task_detail, task=task))


@router.get("/workers")
async def workers(
    studio: StudioDep,
    owner: OwnerDep,
    after: After = None,
    limit: Limit = 50,
    order: listing.WorkerOrder = "worker",
    prefix: Prefix = "",
) -> o.WorkerPage:
    """Workers with their scores, by pseudonym or the largest first; with a prefix, whose pseudonyms begin with it."""
    del owner
    return await studio.read(partial(listing.worker_page, after=after, limit=limit, order=order, prefix=prefix))


@router.get("/agreement")
async def agreement(studio: StudioDep, owner: OwnerDep) -> o.Agreement:
    """How far people agree, with each other and with themselves."""
    del owner
    at, _, body = await studio.read(reports.latest_snapshot)
    empty: dict[str, Any] = {"scores": {}, "repeats": 0, "repeats_same_top": None, "by_hour": []}
    return o.Agreement(**body.get("agreement", empty), at=at)


@router.get("/times")
async def times(studio: StudioDep, owner: OwnerDep) -> o.Times:
    """Where the time goes: by page, and by position of the task."""
    del owner
    at, _, body = await studio.read(reports.latest_snapshot)
    empty: dict[str, Any] = {"first_input": None, "top_label": None, "active": None, "hidden": None, "by_position": []}
    return o.Times(**body.get("times", empty), stages=body.get("stages", {}), at=at)


@router.get("/forms")
async def forms(studio: StudioDep, owner: OwnerDep) -> o.FormsCompared:
    """The forms of a study that asks in several, side by side: what answers cost and what they are worth."""
    del owner
    at, _, body = await studio.read(reports.latest_snapshot)
    return o.FormsCompared(arms=[o.ArmLine(**one) for one in body.get("forms", [])], at=at)


@router.get("/flagged")
async def flagged(studio: StudioDep, owner: OwnerDep, after: After = None, limit: Limit = 50) -> o.FlaggedPage:
    """Odd answers, the newest first."""
    del owner
    return await studio.read(partial(listing.flagged_page, after=after, limit=limit))


@router.get("/snapshot")
async def snapshot(studio: StudioDep, owner: OwnerDep) -> o.Snapshot:
    """What the background last computed, and how old it is."""
    del owner

    return await studio.read(partial(_snapshot, troubles=list(studio.troubles.values())))


def _snapshot(connection: Connection, troubles: list[Trouble]) -> o.Snapshot:
    at, _, body = reports.latest_snapshot(connection)
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


@router.post("/state")
async def change_state(body: o.ChangeState, studio: StudioDep, owner: WritingOwner) -> o.StudyProgress:
    """Open, pause or close the study; answers on their way are kept all the same."""
    await studio.write(partial(owning.change_state, who=owner.name, state=body.state))
    return await studio.read(reports.progress)


@router.get("/invites")
async def invites(studio: StudioDep, owner: OwnerDep) -> o.Invites:
    """Invite links, and the addresses for platforms."""
    del owner
    rows = await studio.read(owning.all_invites)
    fields = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    prolific = f"{studio.settings.base_url}/join?" + "&".join(f"{name}={{{{%{name}%}}}}" for name in fields)
    mturk = f"{studio.settings.base_url}/join" if "mturk" in studio.study.platforms else ""
    return o.Invites(invites=[_invite(studio, row) for row in rows], prolific=prolific, mturk=mturk)


@router.post("/invites")
async def make_invite(body: o.MakeInvite, studio: StudioDep, owner: WritingOwner) -> o.Invite:
    """A new invite link for so many people."""
    made = partial(owning.make_invite, who=owner.name, note=body.note, uses=body.uses)
    return _invite(studio, await studio.write(made))


@router.post("/invites/{invite}/close")
async def close_invite(invite: s.Id, studio: StudioDep, owner: WritingOwner) -> o.Invite:
    """Nobody else comes in by it."""
    closed = partial(owning.close_invite, who=owner.name, invite=number_of(invite))
    return _invite(studio, await studio.write(closed))


def _invite(studio: Studio, row: Any) -> o.Invite:
    return o.Invite(
        invite=shown(row.id),
        address=f"{studio.settings.base_url}/join#invite={studio.keys.sign(INVITE, shown(row.id))}",
        note=row.note,
        uses=row.uses,
        used=row.used,
        open=bool(row.is_open),
    )


@router.get("/audit")
async def audit(studio: StudioDep, owner: OwnerDep) -> o.Audit:
    """Who did what, the newest first."""
    del owner
    lines = await studio.read(owning.audit_lines)
    return o.Audit(lines=[o.AuditLine(**line) for line in lines])


@router.get("/export", response_class=Response, responses={200: {"content": {"application/zip": {}}}})
async def export(studio: StudioDep, owner: OwnerDep, form: Literal["csv", "parquet"] = "csv") -> Response:
    """The data-set folder as a zip; text that a spreadsheet would take for a formula is prefixed in csv."""
    from plurivox.web.exporting import zipped  # tables are a heavy import, and seldom needed

    await studio.write(partial(owning.tell, who=owner.name, what="export", form=form))
    file = await asyncio.to_thread(zipped, studio.engine, studio.study, form)
    gone = BackgroundTask(file.unlink)
    return FileResponse(file, media_type="application/zip", filename=f"{studio.study.name}.zip", background=gone)
