"""Routes of owners that change a study: its state, invitations, exclusions; the audit log and the export."""

import asyncio
from dataclasses import asdict
from functools import partial
from typing import Literal

from fastapi import APIRouter, Depends, Response
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import response_builders as responses
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.route_dependencies import (
    INVITE,
    OwnerDep,
    RefusedSignInsDep,
    StudioDep,
    WriteOwnerDep,
    get_owner_session_from_cookie,
)
from plurivox.web.api.schema_fields import Id
from plurivox.web.open_study import Studio
from plurivox.web.services import platform_admission
from plurivox.web.store import study_state
from plurivox.web.store.admin import audit_log
from plurivox.web.store.admin import invites as invite_store
from plurivox.web.store.collect import excluded_workers
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.store.report import study_progress

router = APIRouter(
    prefix="/api/owner",
    tags=["owners"],
    responses=s.ERROR_RESPONSES,
    dependencies=[Depends(get_owner_session_from_cookie)],
)


@router.post("/state")
async def change_study_state(
    body: o.ChangeState, studio: StudioDep, owner: WriteOwnerDep
) -> study_progress.StudyProgress:
    """Open, pause or close the study, and return its progress; answers to tasks that are leased already are still accepted."""
    await studio.write(partial(study_state.set_study_state, audit_actor=owner.name, state=body.state))
    return await studio.read(study_progress.study_progress)


@router.get("/invites")
async def list_invites(studio: StudioDep) -> o.Invites:
    """List the invite links of the study, and the platforms whose people may enter, with the address to enter there."""
    rows = await studio.read(invite_store.list_newest_invites)
    access = await studio.read(partial(platform_admission.list_access_by_platform, study=studio.study))
    platforms = [responses.platform_access_response(one, studio.settings.base_url) for one in access]
    addresses = {one.name: one.address for one in platforms}
    return o.Invites(
        invites=[_invite_response_with_signed_link(studio, row) for row in rows],
        platforms=platforms,
        prolific=addresses.get("prolific", ""),
        mturk=addresses.get("mturk", ""),
    )


@router.post("/platform-studies")
async def admit_platform_study(body: o.ChangePlatformStudy, studio: StudioDep, owner: WriteOwnerDep) -> o.Invites:
    """Admit people of a study at Prolific, or of a HIT at MTurk, from now on."""
    job = partial(platform_admission.admit_study, platform=body.platform, study_id=body.study)
    await studio.write(partial(job, study=studio.study, audit_actor=owner.name))
    return await list_invites(studio)


@router.post("/platform-studies/remove")
async def remove_platform_study(body: o.ChangePlatformStudy, studio: StudioDep, owner: WriteOwnerDep) -> o.Invites:
    """No longer admit new people of a study at Prolific, or of a HIT at MTurk; those who have entered may come back."""
    job = partial(platform_admission.remove_study, platform=body.platform, study_id=body.study)
    await studio.write(partial(job, study=studio.study, audit_actor=owner.name))
    return await list_invites(studio)


@router.post("/invites")
async def create_invite(body: o.MakeInvite, studio: StudioDep, owner: WriteOwnerDep) -> o.Invite:
    """Create an invite link for `uses` people."""
    made = partial(invite_store.create_invite, audit_actor=owner.name, note=body.note, max_people=body.uses)
    return _invite_response_with_signed_link(studio, await studio.write(made))


@router.post("/invites/{invite}/close")
async def close_invite(invite: Id, studio: StudioDep, owner: WriteOwnerDep) -> o.Invite:
    """Close an invite link, so that no one else can enter the study by it; return the invitation."""
    closed = partial(invite_store.close_and_return_invite, audit_actor=owner.name, invite_id=decode_id(invite))
    return _invite_response_with_signed_link(studio, await studio.write(closed))


def _invite_response_with_signed_link(studio: Studio, invite: invite_store.Invite) -> o.Invite:
    """Return the response for a stored invitation, with its signed link."""
    return o.Invite(
        invite=encode_id(invite.id),
        address=f"{studio.settings.base_url}/join#invite={studio.keys.sign(INVITE, encode_id(invite.id))}",
        note=invite.note,
        uses=invite.uses,
        used=invite.used,
        open=invite.is_open,
    )


@router.get("/audit")
async def list_owner_actions(studio: StudioDep, refused: RefusedSignInsDep) -> o.Audit:
    """Return the audit log, the newest first: actions of owners, their sign-ins, and refused sign-ins."""
    await refused.write_pending()
    lines = await studio.read(audit_log.list_audit_lines)
    return o.Audit(lines=[o.AuditLine(**asdict(line)) for line in lines])


@router.get("/export", response_class=Response, responses={200: {"content": {"application/zip": {}}}})
async def download_export(studio: StudioDep, owner: OwnerDep, form: Literal["csv", "parquet"] = "csv") -> Response:
    """Return the study as a data set in a zip file; in csv, text that a spreadsheet would run as a formula gets a prefix."""
    from plurivox.web.study.export import export_study_to_temporary_zip  # a slow import, seldom needed

    await studio.write(partial(audit_log.append_to_audit_log, who=owner.name, action="export", form=form))
    file = await asyncio.to_thread(export_study_to_temporary_zip, studio.engine, studio.study, form)
    delete = BackgroundTask(file.unlink)
    return FileResponse(file, media_type="application/zip", filename=f"{studio.study.name}.zip", background=delete)


@router.get("/exclusions")
async def list_excluded_workers(studio: StudioDep, after: o.After = None, limit: o.Limit = 50) -> o.Exclusions:
    """Return a page of the workers excluded from the study, the newest first, and the exclusion rules."""
    page = await studio.read(partial(excluded_workers.get_page_of_exclusions, after=after, limit=limit))
    return responses.excluded_workers_page_response(page, studio.study)


@router.post("/exclusions/{worker}/lift")
async def lift_exclusion(worker: Id, studio: StudioDep, owner: WriteOwnerDep) -> o.Exclusions:
    """Lift the exclusion of a worker, whose answers are used again, as late ones; return the list of excluded workers."""
    await studio.write(partial(excluded_workers.lift_exclusion, audit_actor=owner.name, pseudonym=worker))
    return await list_excluded_workers(studio)
