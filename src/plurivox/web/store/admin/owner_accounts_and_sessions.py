"""Owners: their accounts, sessions, and the addresses they have signed in from."""

import hmac
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from plurivox.web.store.admin.audit_log import SIGN_OUT, SignInOrigin, append_sign_in, append_to_audit_log
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import Forbidden
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import facts, owners, places, sessions

SETUP_KEY = "setup"
KNOWN_ADDRESS_SECONDS = 180 * 86400.0  # an address is known for so long after the last sign-in from it


@dataclass(frozen=True)
class Session:
    """The sign-in session of an owner: owner id, name, CSRF token and keyed hash of the session token."""

    owner: int
    name: str
    csrf: str
    token_hash: str  # keyed hash of the session's token


@dataclass(frozen=True)
class Account:
    """Id and password hash of an owner (None if unknown), and whether the owner has signed in from this address before."""

    owner: int | None
    password_hash: str | None
    known_address: bool  # whether this owner has signed in from this address before


def secrets_equal(left: str, right: str) -> bool:
    """Return whether two secrets are equal, in constant time."""
    return hmac.compare_digest(left.encode(), right.encode())


def has_owner(connection: Connection) -> bool:
    """Return whether the study has an owner."""
    return connection.execute(select(owners.c.id).limit(1)).first() is not None


def add_setup_token_hash_and_keep_last_ten(connection: Connection, token_hash: str) -> None:
    """Save the keyed hash of a set-up token, which lets its bearer create the first owner; the latest ten are valid."""
    kv_set(connection, SETUP_KEY, [*(kv_get(connection, SETUP_KEY) or [])[-9:], token_hash])


def insert_first_owner_and_use_up_token(
    connection: Connection, setup_token_hash: str, name: str, password_hash: str, network: str
) -> int:
    """Insert the first owner and use up the set-up token; return the owner's id. Raise Forbidden if the token is not valid.

    The row of the tokens is locked, so that one token creates one owner only.
    """
    connection.execute(select(facts.c.name).where(facts.c.name == SETUP_KEY).with_for_update())
    offered = kv_get(connection, SETUP_KEY) or []
    if not any(secrets_equal(setup_token_hash, one) for one in offered):
        raise Forbidden("wrong-token", "this token is wrong or used up; use the one that the terminal shows")
    kv_set(connection, SETUP_KEY, [])
    key = connection.execute(insert(owners).values(name=name, password=password_hash)).inserted_primary_key
    assert key is not None
    append_to_audit_log(connection, name, "owner set up", network=network)
    return int(key[0])


def get_account_and_whether_address_is_known(connection: Connection, name: str, address_hash: str) -> Account:
    """Return the account of an owner by name, and whether the address is known; takes equally long for unknown names."""
    row = connection.execute(select(owners.c.id, owners.c.password).where(owners.c.name == name)).first()
    owner, password_hash = (None, None) if row is None else (row.id, row.password)
    from_address = select(places.c.seen).where(places.c.owner_id == (owner or 0), places.c.hidden == address_hash)
    seen = connection.execute(from_address).scalar()
    return Account(owner, password_hash, seen is not None and seen > current_unix_time() - KNOWN_ADDRESS_SECONDS)


def begin_owner_session_and_delete_expired(
    connection: Connection,
    token_hash: str,
    csrf_token: str,
    owner_id: int,
    hours: float,
    address_hash_to_remember: str,
    origin: SignInOrigin,
) -> None:
    """Insert a sign-in session of an owner, delete expired sessions, save the address as known, and log the sign-in."""
    connection.execute(delete(sessions).where(sessions.c.until < current_unix_time()))
    row = {"hidden": token_hash, "owner_id": owner_id, "csrf": csrf_token, "until": current_unix_time() + hours * 3600}
    connection.execute(insert(sessions).values(row))
    _save_known_address_and_delete_long_unused(connection, owner_id, address_hash_to_remember)
    append_sign_in(connection, origin)


def _save_known_address_and_delete_long_unused(connection: Connection, owner_id: int, address_hash: str) -> None:
    """Save that an owner signed in from an address; delete the owner's addresses not used for `KNOWN_ADDRESS_SECONDS`."""
    # one sign-in after another, by a lock that does not block inserts of sessions, which reference the owner
    connection.execute(select(owners.c.id).where(owners.c.id == owner_id).with_for_update(key_share=True))
    old = (places.c.owner_id == owner_id) & (
        (places.c.hidden == address_hash) | (places.c.seen < current_unix_time() - KNOWN_ADDRESS_SECONDS)
    )
    connection.execute(delete(places).where(old))
    connection.execute(insert(places).values(owner_id=owner_id, hidden=address_hash, seen=current_unix_time()))


def get_unexpired_owner_session(connection: Connection, token_hash: str) -> Session | None:
    """Return the owner session with this keyed token hash; None if there is none or it has expired."""
    found = (
        select(owners.c.id, owners.c.name, sessions.c.csrf, sessions.c.hidden)
        .join(owners, owners.c.id == sessions.c.owner_id)
        .where(sessions.c.hidden == token_hash, sessions.c.until > current_unix_time())
    )
    row = connection.execute(found).first()
    return None if row is None else Session(*row)


def delete_owner_session(connection: Connection, session: Session, network: str) -> None:
    """Sign an owner out: delete the session from the database, and log the sign-out."""
    connection.execute(delete(sessions).where(sessions.c.hidden == session.token_hash))
    append_to_audit_log(connection, session.name, SIGN_OUT, network=network)
