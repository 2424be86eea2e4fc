"""Auth: the worker of a bearer token, the owner of a session cookie, rate limits; dependencies of the routes."""

import secrets
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request, Response

from plurivox.web.api.http_errors import ApiError, ended, too_many
from plurivox.web.api.login_throttle import Guesses
from plurivox.web.api.rate_limit import Buckets, Slowly, network_of
from plurivox.web.settings import Settings
from plurivox.web.store.admin import owners
from plurivox.web.store.database import now
from plurivox.web.store.errors import NotSignedIn
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.studio import Studio
from plurivox.web.study.secrets import StudySecret

COOKIE = "plurivox_owner"
TOKEN = "X-Plurivox-Token"
RENEWED = "X-Plurivox-Bearer"  # a header of answers: the token to go on with
RENEWALS, DAY = 30, 86400.0  # a token is renewed so often in its life
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
    guesses: Guesses  # of passwords
    drafts: Buckets  # of one worker
    slowly: Slowly = field(default_factory=Slowly)

    @classmethod
    def of(cls, settings: Settings) -> "Limits":
        """Every process counts for itself: what guards the server may grow with it, what guards passwords may not."""
        limits = settings.requests_per_minute, settings.enters_per_minute, settings.drafts_per_minute
        workers, enters, drafts = map(Buckets, limits)
        return cls(workers, enters, Guesses(settings.logins_per_minute / settings.processes), drafts)


async def limits_of(request: Request) -> Limits:
    limits: Limits = request.app.state.limits
    return limits


LimitsDep = Annotated[Limits, Depends(limits_of)]


def let_pass(buckets: Buckets, name: object) -> None:
    if wait := buckets.take(name):
        raise too_many(wait)


def address_of(request: Request) -> str:
    """Whose request it is, as far as the network tells."""
    return network_of(request.client.host) if request.client else ""


async def may_enter(request: Request) -> None:
    let_pass(request.app.state.limits.enters, address_of(request))


async def may_set_up(request: Request) -> None:
    let_pass(request.app.state.limits.guesses.addresses, address_of(request))
    same_origin(request)


async def may_log_in(request: Request) -> str:
    """The address from which somebody signs in; how often is counted once the name is known."""
    same_origin(request)
    return address_of(request)


AddressDep = Annotated[str, Depends(address_of)]
LogInDep = Annotated[str, Depends(may_log_in)]


class Bearer(NamedTuple):
    """What a token says: whose it is, and how many days ago it was made."""

    worker: int
    days: float


def new_bearer(keys: StudySecret, worker: int) -> str:
    """A token for a worker; it ends when it was not used for `token_days` of the study."""
    return keys.sign(BEARER, f"{encode_id(worker)}.{secrets.token_urlsafe(6)}.{int(now()):x}")


async def bearer_of(
    request: Request, studio: StudioDep, authorization: Annotated[str | None, Header(max_length=500)] = None
) -> Bearer | None:
    """The token that came along; None where none did, or it is not ours."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    value = studio.keys.opened(BEARER, token.strip())
    if value is None:
        return None
    name, *chance_and_made = value.split(".")
    made = int(chance_and_made[1], 16) if len(chance_and_made) == 2 else 0
    bearer = Bearer(decode_id(name), (now() - made) / DAY)
    let_pass(request.app.state.limits.workers, bearer.worker)
    return bearer


async def signed_in(response: Response, studio: StudioDep, bearer: Annotated[Bearer | None, Depends(bearer_of)]) -> int:
    """The worker of a token that has not ended; one that gets old is answered with a new one."""
    if bearer is None:
        raise NotSignedIn()
    life = studio.study.token_days
    if bearer.days > life:
        raise ended(life)
    if bearer.days > life / RENEWALS:
        response.headers[RENEWED] = new_bearer(studio.keys, bearer.worker)
    return bearer.worker


async def known_before(bearer: Annotated[Bearer | None, Depends(bearer_of)]) -> int | None:
    """The worker of a token, ended or not: it shows who began here, and opens nothing by itself."""
    return None if bearer is None else bearer.worker


PerhapsWorker = Annotated[int | None, Depends(known_before)]
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
        raise ApiError(403, "other-origin", "this request came from another site")


async def owner_of(request: Request, studio: StudioDep) -> owners.Session:
    """The owner whose cookie came along."""
    token = request.cookies.get(cookie_of(studio.settings), "")
    found = await studio.read(partial(owners.get_session, token_hash=studio.keys.hidden(token))) if token else None
    if found is None:
        raise ApiError(401, "unsigned", "sign in first")
    return found


OwnerDep = Annotated[owners.Session, Depends(owner_of)]


async def writing_owner(request: Request, owner: OwnerDep) -> owners.Session:
    """The same, for writes: from our own pages, with the session's token."""
    same_origin(request)
    if not owners.secrets_equal(request.headers.get(TOKEN, ""), owner.csrf):
        raise ApiError(403, "no-token", f"the header {TOKEN} must hold the session's token")
    return owner


WritingOwner = Annotated[owners.Session, Depends(writing_owner)]


def set_cookie(response: Response, settings: Settings, token: str) -> None:
    """Keep the session in a cookie that scripts cannot read and other sites cannot send."""
    age = int(settings.session_hours * 3600)
    about: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": settings.secure}
    response.set_cookie(cookie_of(settings), token, max_age=age, path=settings.prefix or "/", **about)


def cookie_of(settings: Settings) -> str:
    """The name of the cookie: studies side by side have each its own, and so has one that was alone here before."""
    return COOKIE + settings.prefix.replace("/", "_").replace("~", "_")
