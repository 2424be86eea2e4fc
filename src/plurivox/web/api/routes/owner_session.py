"""Routes of owners: set-up, login, logout, session."""

from functools import partial

from fastapi import APIRouter, Depends, Response

from plurivox.web.api import owner_schemas as o
from plurivox.web.api import worker_schemas as s
from plurivox.web.api.auth import (
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
from plurivox.web.api.http_errors import ApiError, too_many
from plurivox.web.services import owner_sign_in
from plurivox.web.store.admin import owners
from plurivox.web.studio import Studio

router = APIRouter(prefix="/api/owner", tags=["owners"], responses=s.FAULTS)


@router.post("/setup", dependencies=[Depends(may_set_up)])
async def set_up(
    body: o.SetUp, response: Response, studio: StudioDep, limits: LimitsDep, address: AddressDep
) -> o.Session:
    """The first owner, by the one-time token of the terminal."""
    hidden = studio.keys.hidden(body.token)
    hashed = await limits.slowly.run(owner_sign_in.hash_password, body.password)
    owner = await studio.write(
        partial(owners.create_first_owner, token_hash=hidden, name=body.name, password_hash=hashed)
    )
    return await _begin(studio, response, owner, body.name, owner_sign_in.hash_address(studio.keys, address))


@router.post("/login")
async def log_in(
    body: o.LogIn, response: Response, studio: StudioDep, limits: LimitsDep, address: LogInDep
) -> o.Session:
    """Sign in by password. A name that is not there takes as long as a wrong password, and is counted alike."""
    place = owner_sign_in.hash_address(studio.keys, address)
    account = await studio.read(partial(owners.get_account, name=body.name, address_hash=place))
    if wait := limits.guesses.wait(body.name, address, known=account.known_address):
        raise too_many(wait)
    right = await limits.slowly.run(owner_sign_in.verify_password, account.password_hash, body.password)
    if not right or account.owner is None:
        raise ApiError(401, "wrong-password", "name or password is wrong")
    limits.guesses.right(body.name, address, known=account.known_address)
    return await _begin(studio, response, account.owner, body.name, place)


async def _begin(studio: Studio, response: Response, owner: int, name: str, place: str) -> o.Session:
    hours = studio.settings.session_hours
    begin = partial(owner_sign_in.begin_session, keys=studio.keys, owner=owner, hours=hours, address_hash=place)
    tokens = await studio.write(begin)
    set_cookie(response, studio.settings, tokens.session)
    return o.Session(name=name, csrf=tokens.csrf)


@router.post("/logout", status_code=204)
async def log_out(response: Response, studio: StudioDep, owner: WritingOwner) -> None:
    """Sign out: the session is gone, wherever its cookie may be."""
    await studio.write(partial(owners.end_session, session=owner))
    response.delete_cookie(cookie_of(studio.settings), path=studio.settings.prefix or "/")


@router.get("/session")
async def session(owner: OwnerDep) -> o.Session:
    """Who is signed in, and the token for writes."""
    return o.Session(name=owner.name, csrf=owner.csrf)
