"""Routes by which owners sign in and out: setup of the first owner, login, logout, current session."""

from functools import partial

from fastapi import APIRouter, Response

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.http_errors import ApiError, rate_limit_error
from plurivox.web.api.route_dependencies import (
    AddressDep,
    LimitsDep,
    LoginAddressDep,
    OwnerDep,
    RefusedSignInsDep,
    StudioDep,
    WriteOwnerDep,
    session_cookie_name_with_path,
    set_owner_session_cookie,
)
from plurivox.web.open_study import Studio
from plurivox.web.services import owner_sign_in
from plurivox.web.services.refused_sign_in_log import shortened_network
from plurivox.web.store.admin import owner_accounts_and_sessions
from plurivox.web.store.admin.audit_log import UNKNOWN_NAME, SignInOrigin
from plurivox.web.store.errors import Forbidden

router = APIRouter(prefix="/api/owner", tags=["owners"], responses=s.ERROR_RESPONSES)


@router.post("/setup")
async def create_first_owner(
    body: o.SetUp,
    response: Response,
    studio: StudioDep,
    limits: LimitsDep,
    refused: RefusedSignInsDep,
    address: LoginAddressDep,
) -> o.Session:
    """Create the first owner of a study, with the one-time token printed in the terminal, and sign this owner in."""
    origin = SignInOrigin(body.name, shortened_network(address))
    stranger = SignInOrigin(UNKNOWN_NAME, origin.network)
    if wait := limits.logins.addresses.take_token_or_return_seconds_to_wait(address):
        refused.count(stranger, "too many attempts")
        raise rate_limit_error(wait)
    try:
        hashed = await limits.hashing.run_in_thread_unless_queue_is_full(owner_sign_in.hash_password, body.password)
    except ApiError:
        refused.count(stranger, "busy server")
        raise
    insert_owner = partial(
        owner_accounts_and_sessions.insert_first_owner_and_use_up_token,
        setup_token_hash=studio.keys.hash_token(body.token),
        name=body.name,
        password_hash=hashed,
        network=origin.network,
    )
    try:
        owner = await studio.write(insert_owner)
    except Forbidden:
        refused.count(stranger, "wrong setup link")
        raise
    return await _start_owner_session_and_set_cookie(studio, response, owner, origin, address)


@router.post("/login")
async def log_in_owner(
    body: o.LogIn,
    response: Response,
    studio: StudioDep,
    limits: LimitsDep,
    refused: RefusedSignInsDep,
    address: LoginAddressDep,
) -> o.Session:
    """Sign an owner in by password. An unknown name takes as long as a wrong password and counts as one."""
    account = await studio.read(
        partial(
            owner_accounts_and_sessions.get_account_and_whether_address_is_known,
            name=body.name,
            address_hash=owner_sign_in.hash_client_address(studio.keys, address),
        )
    )
    known = account.known_address
    origin = SignInOrigin(UNKNOWN_NAME if account.owner is None else body.name, shortened_network(address), known)
    if wait := limits.logins.count_login_or_return_seconds_to_wait(body.name, address, known_address=known):
        refused.count(origin, "too many attempts")
        raise rate_limit_error(wait)
    try:
        is_correct = await limits.hashing.run_in_thread_unless_queue_is_full(
            owner_sign_in.verify_password, account.password_hash, body.password
        )
    except ApiError:
        refused.count(origin, "busy server")
        raise
    if not is_correct or account.owner is None:
        refused.count(origin, "unknown name" if account.owner is None else "wrong password")
        raise ApiError(401, "wrong-password", "name or password is wrong")
    limits.logins.forget_login_attempts_after_success(body.name, address, known_address=known)
    return await _start_owner_session_and_set_cookie(studio, response, account.owner, origin, address)


async def _start_owner_session_and_set_cookie(
    studio: Studio, response: Response, owner_id: int, origin: SignInOrigin, address: str
) -> o.Session:
    """Store a new session of an owner, set its cookie on `response` and return it."""
    hours = studio.settings.session_hours
    begin = partial(
        owner_sign_in.begin_owner_session_and_return_tokens,
        keys=studio.keys,
        owner_id=owner_id,
        hours=hours,
        address_hash=owner_sign_in.hash_client_address(studio.keys, address),
        origin=origin,
    )
    tokens = await studio.write(begin)
    set_owner_session_cookie(response, studio.settings, tokens.session)
    return o.Session(name=origin.name, csrf=tokens.csrf)


@router.post("/logout", status_code=204)
async def log_out_owner(response: Response, studio: StudioDep, owner: WriteOwnerDep, address: AddressDep) -> None:
    """Sign the owner out: delete the session and its cookie."""
    end = partial(owner_accounts_and_sessions.delete_owner_session, session=owner, network=shortened_network(address))
    await studio.write(end)
    response.delete_cookie(session_cookie_name_with_path(studio.settings), path=studio.settings.path_prefix or "/")


@router.get("/session")
async def get_owner_session(owner: OwnerDep) -> o.Session:
    """Return the name of the owner who is signed in, and the CSRF token for writes."""
    return o.Session(name=owner.name, csrf=owner.csrf)
