"""FastAPI dependencies of the routes: worker by bearer token, owner by session cookie, rate limits, origin check."""

import secrets
from dataclasses import dataclass, field
from functools import partial
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlsplit

from fastapi import Depends, Header, Request, Response

from plurivox.web.api.http_errors import (
    ApiError,
    expired_token_error,
    rate_limit_error,
    too_many_arrivals_error,
)
from plurivox.web.api.login_throttle import LoginThrottle
from plurivox.web.api.rate_limit import (
    BoundedPool,
    TokenBuckets,
    ip_or_ipv6_network,
    ipv6_network_of_provider_or_none,
)
from plurivox.web.open_study import Studio
from plurivox.web.server_settings import Settings
from plurivox.web.services.refused_sign_in_log import RefusedSignInLog
from plurivox.web.store.admin import owner_accounts_and_sessions
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotSignedIn
from plurivox.web.store.random_ids import decode_id, encode_id
from plurivox.web.study.secret_key import StudySecret

COOKIE_NAME = "plurivox_owner"
CSRF_HEADER = "X-Plurivox-Token"
RENEWED_TOKEN_HEADER = "X-Plurivox-Bearer"  # response header: the token to use from now on
HOUR = 3600.0
ADDRESSES_PER_NETWORK = 4  # as many arrivals from a /48 network of IPv6 as from so many addresses
RENEWALS, DAY = 30, 86400.0  # a token is renewed after 1 / RENEWALS of its lifetime
BEARER, LINK, INVITE = "bearer", "link", "invite"  # purposes of signed texts


async def get_studio(request: Request) -> Studio:
    """Return the Studio (study, database, secret key) of the application that serves the request."""
    studio: Studio = request.app.state.studio
    return studio


StudioDep = Annotated[Studio, Depends(get_studio)]


@dataclass
class RateLimits:
    """The rate limits of one server process: requests of workers, entries, logins, drafts, password hashing."""

    workers: TokenBuckets
    enters: TokenBuckets
    logins: LoginThrottle
    drafts: TokenBuckets
    arrivals: TokenBuckets
    network_arrivals: TokenBuckets
    hashing: BoundedPool = field(default_factory=BoundedPool)

    @classmethod
    def rate_limits_from_settings(cls, settings: Settings) -> "RateLimits":
        """Create the limits of one server process; those of logins and arrivals are divided by the number of processes."""
        limits = settings.requests_per_minute, settings.enters_per_minute, settings.drafts_per_minute
        workers, enters, drafts = map(TokenBuckets, limits)
        logins = LoginThrottle(settings.logins_per_minute / settings.processes)
        per_hour = settings.arrivals_per_hour / settings.processes
        arrivals, of_network = (TokenBuckets(times * per_hour, seconds=HOUR) for times in (1, ADDRESSES_PER_NETWORK))
        return cls(workers, enters, logins, drafts, arrivals, of_network)


async def get_rate_limits(request: Request) -> RateLimits:
    """Return the rate limits of the application that serves the request."""
    limits: RateLimits = request.app.state.limits
    return limits


LimitsDep = Annotated[RateLimits, Depends(get_rate_limits)]


async def get_refused_sign_in_log(request: Request) -> RefusedSignInLog:
    """Return the log of refused sign-ins of the application that serves the request."""
    refused: RefusedSignInLog = request.app.state.refused_sign_ins
    return refused


RefusedSignInsDep = Annotated[RefusedSignInLog, Depends(get_refused_sign_in_log)]


def enforce_rate_limit(buckets: TokenBuckets, address_or_worker: object) -> None:
    """Count a request of a client (an address or a worker id); raise ApiError 429 if it has made too many."""
    if wait := buckets.take_token_or_return_seconds_to_wait(address_or_worker):
        raise rate_limit_error(wait)


def client_ip_or_ipv6_network(request: Request) -> str:
    """Return the address under which a client's requests are counted: an IPv4 address or an IPv6 /64 network."""
    return ip_or_ipv6_network(request.client.host) if request.client else ""


async def enforce_study_entry_limit_per_address(request: Request) -> None:
    """Raise ApiError 429 if the client's address enters the study too often."""
    enforce_rate_limit(request.app.state.limits.enters, client_ip_or_ipv6_network(request))


def enforce_arrival_limit(limits: RateLimits, address: str) -> None:
    """Count a new person by a platform's link; raise ApiError 429 if too many have come from this address or network.

    One customer of a provider may have many /64 networks of IPv6, so their /48 network has a limit too.
    """
    network = ipv6_network_of_provider_or_none(address)
    for buckets, client in ((limits.arrivals, address), (limits.network_arrivals, network)):
        if client and (wait := buckets.take_token_or_return_seconds_to_wait(client)):
            raise too_many_arrivals_error(wait)


async def require_same_origin_and_return_client_ip(request: Request) -> str:
    """Return the client's address of a login or setup request; raise ApiError if the request comes from another origin."""
    require_same_origin(request)
    return client_ip_or_ipv6_network(request)


AddressDep = Annotated[str, Depends(client_ip_or_ipv6_network)]
LoginAddressDep = Annotated[str, Depends(require_same_origin_and_return_client_ip)]


class Bearer(NamedTuple):
    """A worker's token: the worker id, and the days since it was made."""

    worker: int
    days: float


def make_bearer_token(keys: StudySecret, worker: int) -> str:
    """Return a new signed bearer token of a worker; it expires if not used for `token_days` of the study."""
    return keys.sign(BEARER, f"{encode_id(worker)}.{secrets.token_urlsafe(6)}.{int(current_unix_time()):x}")


async def verify_bearer_and_enforce_rate_limit(
    request: Request, studio: StudioDep, authorization: Annotated[str | None, Header(max_length=500)] = None
) -> Bearer | None:
    """Return worker id and age of the token in the Authorization header, None without a valid one; count the request."""
    scheme, _, token = (authorization or "").partition(" ")
    if scheme.lower() != "bearer":
        return None
    value = studio.keys.verify(BEARER, token.strip())
    if value is None:
        return None
    name, *nonce_and_time = value.split(".")
    made = int(nonce_and_time[1], 16) if len(nonce_and_time) == 2 else 0
    bearer = Bearer(decode_id(name), (current_unix_time() - made) / DAY)
    enforce_rate_limit(request.app.state.limits.workers, bearer.worker)
    return bearer


async def get_worker_id_and_renew_old_token(
    response: Response,
    studio: StudioDep,
    bearer: Annotated[Bearer | None, Depends(verify_bearer_and_enforce_rate_limit)],
) -> int:
    """Return the worker id of the request's token; raise without a valid one. An old token is renewed by a response header."""
    if bearer is None:
        raise NotSignedIn()
    life = studio.study.token_days
    if bearer.days > life:
        raise expired_token_error(life)
    if bearer.days > life / RENEWALS:
        response.headers[RENEWED_TOKEN_HEADER] = make_bearer_token(studio.keys, bearer.worker)
    return bearer.worker


async def worker_id_even_if_token_expired(
    bearer: Annotated[Bearer | None, Depends(verify_bearer_and_enforce_rate_limit)],
) -> int | None:
    """Return the worker id of a token, expired or not; None without a token. It does not authorise anything."""
    return None if bearer is None else bearer.worker


OptionalWorkerDep = Annotated[int | None, Depends(worker_id_even_if_token_expired)]
WorkerDep = Annotated[int, Depends(get_worker_id_and_renew_old_token)]


async def enforce_draft_rate_limit(request: Request, worker: WorkerDep) -> None:
    """Raise ApiError 429 if the worker saves drafts too often."""
    enforce_rate_limit(request.app.state.limits.drafts, worker)


# ---- owners


def require_same_origin(request: Request) -> None:
    """Raise ApiError 403 if the Origin header of a request is not the address of the studio."""
    home = urlsplit(request.app.state.studio.settings.base_url)
    allowed = {f"{home.scheme}://{home.netloc}"}
    if home.hostname in ("127.0.0.1", "localhost"):
        port = f":{home.port}" if home.port else ""
        allowed |= {f"{home.scheme}://{host}{port}" for host in ("127.0.0.1", "localhost")}
    if request.headers.get("origin") not in allowed:
        raise ApiError(
            403, "other-origin", f"this request came from another address than the studio's; open {home.geturl()}"
        )


async def get_owner_session_from_cookie(request: Request, studio: StudioDep) -> owner_accounts_and_sessions.Session:
    """Return the owner's session, found by the cookie of the request; raise ApiError 401 if there is none."""
    token = request.cookies.get(session_cookie_name_with_path(studio.settings), "")
    found = (
        await studio.read(
            partial(owner_accounts_and_sessions.get_unexpired_owner_session, token_hash=studio.keys.hash_token(token))
        )
        if token
        else None
    )
    if found is None:
        raise ApiError(401, "unsigned", "please sign in first")
    return found


OwnerDep = Annotated[owner_accounts_and_sessions.Session, Depends(get_owner_session_from_cookie)]


async def check_csrf_and_return_owner_session(request: Request, owner: OwnerDep) -> owner_accounts_and_sessions.Session:
    """Return the owner's session of a request that changes data; raise ApiError 403 on a wrong origin or CSRF token."""
    require_same_origin(request)
    if not owner_accounts_and_sessions.secrets_equal(request.headers.get(CSRF_HEADER, ""), owner.csrf):
        raise ApiError(
            403,
            "no-token",
            f"your sign-in has changed; load the page again (programs send its csrf token in {CSRF_HEADER})",
        )
    return owner


WriteOwnerDep = Annotated[owner_accounts_and_sessions.Session, Depends(check_csrf_and_return_owner_session)]


def set_owner_session_cookie(response: Response, settings: Settings, session_token: str) -> None:
    """Set the owner's session cookie on `response`: HttpOnly, SameSite=Strict, and Secure with https."""
    age = int(settings.session_hours * 3600)
    about: dict[str, Any] = {"httponly": True, "samesite": "strict", "secure": settings.is_https}
    response.set_cookie(
        session_cookie_name_with_path(settings), session_token, max_age=age, path=settings.path_prefix or "/", **about
    )


def session_cookie_name_with_path(settings: Settings) -> str:
    """Return the name of the session cookie, which contains the path of the study."""
    return COOKIE_NAME + settings.path_prefix.replace("/", "_").replace("~", "_")
