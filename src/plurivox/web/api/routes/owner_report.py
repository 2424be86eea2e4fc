"""Routes of owners for the report on the study: ask for one, see how far it is, open or download the page."""

import gzip
from functools import partial
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import response_builders as responses
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.route_dependencies import OwnerDep, StudioDep, WriteOwnerDep, get_owner_session_from_cookie
from plurivox.web.services import report_requests
from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.report.report_pages import ReportQuestion, get_compressed_report_page

router = APIRouter(
    prefix="/api/owner",
    tags=["owners"],
    responses=s.ERROR_RESPONSES,
    dependencies=[Depends(get_owner_session_from_cookie)],
)
# The page is an origin of its own: its script can reach neither cookies nor the studio. Which script may run at all is in the
# page's own policy, which applies too.
REPORT_POLICY = (
    "sandbox allow-scripts; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
REPORT_HEADERS = {
    "Content-Security-Policy": REPORT_POLICY,
    "Cross-Origin-Opener-Policy": "unsafe-none",  # browsers may refuse a sandboxed page with another one
    "Vary": "Accept-Encoding",
}
HTML: dict[str, Any] = {"text/html": {"schema": {"type": "string"}}}  # content of the response


@router.get("/report")
async def get_reports(studio: StudioDep) -> o.Reports:
    """Return the report of each question: when it was made and from which votes, and how far a new one is."""
    found = await studio.read(
        partial(report_requests.get_report_overview, study=studio.study, folder=studio.settings.folder)
    )
    return responses.reports_response(found)


@router.post("/report")
async def ask_for_report(body: o.AskForReport, studio: StudioDep, owner: WriteOwnerDep) -> o.Reports:
    """Have the report on a question made in the background, unless it is being made already, and return all reports."""
    ask = partial(report_requests.ask_for_report_if_possible, audit_actor=owner.name, question=body.question)
    await studio.write(ask)
    return await get_reports(studio)


@router.get("/report/{question}", response_class=Response, responses={200: {"content": HTML}})
async def open_report(
    question: ReportQuestion, request: Request, studio: StudioDep, owner: OwnerDep, download: bool = False
) -> Response:
    """Return the report on a question as an HTML page without access to the studio, to open, or as a file to download."""
    page = await studio.read(partial(get_compressed_report_page, question=question))
    if download:
        log = partial(append_to_audit_log, who=owner.name, action="report downloaded", question=question)
        await studio.write(log)
    name = f"{studio.study.name}-report-{question}.html"
    headers = REPORT_HEADERS | {"Content-Disposition": f'{"attachment" if download else "inline"}; filename="{name}"'}
    if "gzip" in request.headers.get("accept-encoding", ""):
        headers["Content-Encoding"] = "gzip"
    else:
        page = gzip.decompress(page)
    return Response(page, media_type="text/html", headers=headers)
