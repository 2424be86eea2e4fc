"""Who is at the door: the worker of a bearer token, the owner of a cookie. Routes ask for these and for nothing else."""

from dataclasses import dataclass, field
from functools import partial
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request, Response

from plurivox.web.context import Studio
from plurivox.web.faults import Refused, unsigned
from plurivox.web.guard import too_many
from plurivox.web.keys import number_of
from plurivox.web.limits import Buckets, Slowly, network_of
from plurivox.web.settings import Settings
from plurivox.web.store import owning

COOKIE = "plurivox_owner"
TOKEN = "X-Plurivox-Token"
PER_ACCOUNT = 3  # so many times what one address may try
BEARER, LINK, INVITE = "bearer", "link", "invite"  # what a signed text is for


async def studio_of(request: Request) -> Studio:
    """The study that this server serves."""
    studio: Studio = request.app.state.studio
    return studio


StudioDep = Annotated[Studio, Depends(studio_of)]


@dataclass
class Limits:
    """The buckets of one server."""

    workers: Buckets
    enters: Buckets
    logins: Buckets  # of one address
    accounts: Buckets  # of one name, from wherever
    drafts: Buckets
    slowly: Slowly = field(default_factory=Slowly)

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        logins = settings.logins_per_minute
        limits = settings.requests_per_minute, settings.enters_per_minute, logins, PER_ACCOUNT * logins
        workers, enters, addresses, accounts = map(Buckets, limits)
        return cls(workers, enters, addresses, accounts, Buckets(settings.drafts_per_minute))


async def limits_of(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


LimitsDep = Annotated[Limits, Depends(limits_of)]


def let_pass(buckets: Buckets, name: object) -> None:
    if wait := buckets.take(name):
        raise too_many(wait)


def _address(request: Request) -> str:
    return network_of(request.client.host) if request.client else ""


async def may_enter(request: Request) -> None:
    let_pass(request.app.state.limits.enters, _address(request))


async def may_log_in(request: Request) -> None:
    let_pass(request.app.state.limits.logins, _address(request))
    same_origin(request)


async def bearer_of(
    request: Request, studio: StudioDep, authorization: Annotated[str | None, Header(max_length=500)] = None
) -> int | None:
    """The id of the worker whose token came along; None where none did, or it is not ours."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    value = studio.keys.opened(BEARER, token.strip())
    if value is None:
        return None
    worker = number_of(value.partition(".")[0])
    let_pass(request.app.state.limits.workers, worker)
    return worker


async def signed_in(worker: Annotated[int | None, Depends(bearer_of)]) -> int:
    if worker is None:
        raise unsigned()
    return worker


PerhapsWorker = Annotated[int | None, Depends(bearer_of)]
WorkerDep = Annotated[int, Depends(signed_in)]


async def may_draft(request: Request, worker: WorkerDep) -> None:
    let_pass(request.app.state.limits.drafts, worker)


# ---- owners


def same_origin(request: Request) -> None:
    """Refuse a write that another site's page sent."""
    home = urlsplit(request.app.state.studio.settings.base_url)
    allowed = {f"{home.scheme}://{home.netloc}"}
    if home.hostname in ("127.0.0.1", "localhost"):
        port = f":{home.port}" if home.port else ""
        allowed |= {f"{home.scheme}://{host}{port}" for host in ("127.0.0.1", "localhost")}
    if request.headers.get("origin") not in allowed:
        raise Refused(403, "other-origin", "this request came from another site")


async def owner_of(request: Request, studio: StudioDep) -> owning.Session:
    """The owner whose cookie came along."""
    token = request.cookies.get(COOKIE, "")
    found = await studio.read(partial(owning.session_of, hidden=studio.keys.hidden(token))) if token else None
    if found is None:
        raise Refused(401, "unsigned", "sign in first")
    return found


OwnerDep = Annotated[owning.Session, Depends(owner_of)]


async def writing_owner(request: Request, owner: OwnerDep) -> owning.Session:
    """The same, for writes: from our own pages, with the session's token."""
    same_origin(request)
    if not owning.same(request.headers.get(TOKEN, ""), owner.csrf):
        raise Refused(403, "no-token", f"the header {TOKEN} must hold the session's token")
    return owner


WritingOwner = Annotated[owning.Session, Depends(writing_owner)]


def set_cookie(response: Response, settings: Settings, token: str) -> None:
    """Keep the session in a cookie that scripts cannot read and other sites cannot send."""
    age = int(settings.session_hours * 3600)
    response.set_cookie(COOKIE, token, max_age=age, path="/", httponly=True, samesite="strict", secure=settings.secure)
