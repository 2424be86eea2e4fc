"""Routes by which owners sign in and out: setup of the first owner, login, logout, current session."""

from functools import partial

from fastapi import APIRouter, Depends, Response

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_entry_and_stage_schemas as s
from plurivox.web.api.http_errors import ApiError, rate_limit_error
from plurivox.web.api.route_dependencies import (
    AddressDep,
    LimitsDep,
    LoginAddressDep,
    OwnerDep,
    StudioDep,
    WriteOwnerDep,
    check_origin_and_rate_limit_of_owner_setup,
    session_cookie_name_with_path,
    set_owner_session_cookie,
)
from plurivox.web.open_study import Studio
from plurivox.web.services import owner_sign_in
from plurivox.web.store.admin import owner_accounts_and_sessions

router = APIRouter(prefix="/api/owner", tags=["owners"], responses=s.ERROR_RESPONSES)


@router.post("/setup", dependencies=[Depends(check_origin_and_rate_limit_of_owner_setup)])
async def create_first_owner(
    body: o.SetUp, response: Response, studio: StudioDep, limits: LimitsDep, address: AddressDep
) -> o.Session:
    """Create the first owner of a study, with the one-time token printed in the terminal, and sign this owner in."""
    token_hash = studio.keys.hash_token(body.token)
    hashed = await limits.hashing.run_in_thread_unless_queue_is_full(owner_sign_in.hash_password, body.password)
    owner = await studio.write(
        partial(
            owner_accounts_and_sessions.insert_first_owner_and_use_up_token,
            setup_token_hash=token_hash,
            name=body.name,
            password_hash=hashed,
        )
    )
    return await _start_owner_session_and_set_cookie(
        studio, response, owner, body.name, owner_sign_in.hash_client_address(studio.keys, address)
    )


@router.post("/login")
async def log_in_owner(
    body: o.LogIn, response: Response, studio: StudioDep, limits: LimitsDep, address: LoginAddressDep
) -> o.Session:
    """Sign an owner in by password. An unknown name takes as long as a wrong password and counts as one."""
    address_hash = owner_sign_in.hash_client_address(studio.keys, address)
    account = await studio.read(
        partial(
            owner_accounts_and_sessions.get_account_and_whether_address_is_known,
            name=body.name,
            address_hash=address_hash,
        )
    )
    if wait := limits.logins.count_login_or_return_seconds_to_wait(
        body.name, address, known_address=account.known_address
    ):
        raise rate_limit_error(wait)
    is_correct = await limits.hashing.run_in_thread_unless_queue_is_full(
        owner_sign_in.verify_password, account.password_hash, body.password
    )
    if not is_correct or account.owner is None:
        raise ApiError(401, "wrong-password", "name or password is wrong")
    limits.logins.forget_login_attempts_after_success(body.name, address, known_address=account.known_address)
    return await _start_owner_session_and_set_cookie(studio, response, account.owner, body.name, address_hash)


async def _start_owner_session_and_set_cookie(
    studio: Studio, response: Response, owner_id: int, owner_name: str, address_hash: str
) -> o.Session:
    """Store a new session of an owner, set its cookie on `response` and return it."""
    hours = studio.settings.session_hours
    begin = partial(
        owner_sign_in.begin_owner_session_and_return_tokens,
        keys=studio.keys,
        owner_id=owner_id,
        hours=hours,
        address_hash=address_hash,
    )
    tokens = await studio.write(begin)
    set_owner_session_cookie(response, studio.settings, tokens.session)
    return o.Session(name=owner_name, csrf=tokens.csrf)


@router.post("/logout", status_code=204)
async def log_out_owner(response: Response, studio: StudioDep, owner: WriteOwnerDep) -> None:
    """Sign the owner out: delete the session and its cookie."""
    await studio.write(partial(owner_accounts_and_sessions.delete_owner_session, session=owner))
    response.delete_cookie(session_cookie_name_with_path(studio.settings), path=studio.settings.path_prefix or "/")


@router.get("/session")
async def get_owner_session(owner: OwnerDep) -> o.Session:
    """Return the name of the owner who is signed in, and the CSRF token for writes."""
    return o.Session(name=owner.name, csrf=owner.csrf)
