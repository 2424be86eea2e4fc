"""What owners see and do. A SameSite cookie says who it is; writes need the token of the session and our own Origin."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response

from plurivox.web import schemas as s

router = APIRouter(prefix="/api/owner", tags=["owners"])
After = Annotated[str | None, Query(max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
Limit = Annotated[int, Query(ge=1, le=500)]


@router.post("/setup")
async def set_up(body: s.SetUp, response: Response) -> s.Session:
    """The first owner, by the one-time token of the terminal."""
    raise NotImplementedError


@router.post("/login")
async def log_in(body: s.LogIn, response: Response) -> s.Session:
    raise NotImplementedError


@router.post("/logout")
async def log_out(response: Response) -> None:
    raise NotImplementedError


@router.get("/session")
async def session() -> s.Session:
    """Who is signed in, and the token for writes."""
    raise NotImplementedError


@router.get("/studies")
async def studies() -> list[s.StudyLine]:
    raise NotImplementedError


@router.get("/progress")
async def progress() -> s.StudyProgress:
    raise NotImplementedError


@router.get("/tasks")
async def tasks(
    after: After = None, limit: Limit = 50, order: Literal["name", "entropy", "given"] = "name"
) -> s.TaskPage:
    raise NotImplementedError


@router.get("/tasks/{task}")
async def task(task: s.Id) -> s.TaskDetail:
    raise NotImplementedError


@router.get("/workers")
async def workers(after: After = None, limit: Limit = 50) -> s.WorkerPage:
    raise NotImplementedError


@router.get("/agreement")
async def agreement() -> s.Agreement:
    raise NotImplementedError


@router.get("/times")
async def times() -> s.Times:
    raise NotImplementedError


@router.get("/flagged")
async def flagged(after: After = None, limit: Limit = 50) -> s.FlaggedPage:
    raise NotImplementedError


@router.get("/snapshot")
async def snapshot() -> s.Snapshot:
    raise NotImplementedError


@router.post("/state")
async def change_state(body: s.ChangeState) -> s.StudyProgress:
    """Open, pause or close the study."""
    raise NotImplementedError


@router.get("/invites")
async def invites() -> s.Invites:
    raise NotImplementedError


@router.post("/invites")
async def make_invite(body: s.MakeInvite) -> s.Invite:
    raise NotImplementedError


@router.post("/invites/{invite}/close")
async def close_invite(invite: s.Id) -> s.Invite:
    raise NotImplementedError


@router.get("/audit")
async def audit() -> s.Audit:
    raise NotImplementedError


@router.get("/export")
async def export() -> Response:
    """The data-set folder as a zip."""
    raise NotImplementedError
