"""Owners: their accounts, sessions, and the addresses they have signed in from."""

import hmac
from dataclasses import dataclass

from sqlalchemy import Connection, delete, insert, select

from plurivox.web.store.admin.audit_log import log_audit
from plurivox.web.store.database import now
from plurivox.web.store.errors import Forbidden
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import facts, owners, places, sessions

SETUP_KEY = "setup"
KNOWN_ADDRESS_SECONDS = 180 * 86400.0  # seconds for which a place is known after the last time


@dataclass(frozen=True)
class Session:
    """Somebody who is signed in."""

    owner: int
    name: str
    csrf: str
    hidden: str  # the keyed hash of the session's token


@dataclass(frozen=True)
class Account:
    """What a password is checked against; `owner` and hash are None where there is no owner of that name."""

    owner: int | None
    password_hash: str | None
    known_place: bool  # whether this owner has signed in from this place before


def secrets_equal(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def has_owner(connection: Connection) -> bool:
    """Whether the study has an owner."""
    return connection.execute(select(owners.c.id).limit(1)).first() is not None


def save_setup_token(connection: Connection, hidden: str) -> None:
    """Let a set-up token, given as its keyed hash, make the first owner; the latest ten work."""
    kv_set(connection, SETUP_KEY, [*(kv_get(connection, SETUP_KEY) or [])[-9:], hidden])


def create_first_owner(connection: Connection, hidden: str, name: str, password_hash: str) -> int:
    """The first owner; the token is used up. Its row is held, so that of two who bring it at once one is late."""
    connection.execute(select(facts.c.name).where(facts.c.name == SETUP_KEY).with_for_update())
    offered = kv_get(connection, SETUP_KEY) or []
    if not any(secrets_equal(hidden, one) for one in offered):
        raise Forbidden("wrong-token", "this token is not the one that the terminal showed, or it is used up")
    kv_set(connection, SETUP_KEY, [])
    key = connection.execute(insert(owners).values(name=name, password=password_hash)).inserted_primary_key
    assert key is not None
    log_audit(connection, name, "owner set up")
    return int(key[0])


def get_account(connection: Connection, name: str, place: str) -> Account:
    """The account of an owner; where there is none, the same statements run: it takes as long."""
    row = connection.execute(select(owners.c.id, owners.c.password).where(owners.c.name == name)).first()
    owner, password_hash = (None, None) if row is None else (row.id, row.password)
    here = select(places.c.seen).where(places.c.owner_id == (owner or 0), places.c.hidden == place)
    seen = connection.execute(here).scalar()
    return Account(owner, password_hash, seen is not None and seen > now() - KNOWN_ADDRESS_SECONDS)


def begin_session(connection: Connection, hidden: str, csrf: str, owner: int, hours: float, place: str) -> None:
    """Insert a session whose token has the keyed hash `hidden`; the place is known from now on."""
    connection.execute(delete(sessions).where(sessions.c.until < now()))
    row = {"hidden": hidden, "owner_id": owner, "csrf": csrf, "until": now() + hours * 3600}
    connection.execute(insert(sessions).values(row))
    _save_known_address(connection, owner, place)


def _save_known_address(connection: Connection, owner: int, place: str) -> None:
    """Know a place again; those not seen for long are forgotten."""
    # one sign-in after another; a lock that their sessions, which point to the same owner, do not wait for
    connection.execute(select(owners.c.id).where(owners.c.id == owner).with_for_update(key_share=True))
    old = (places.c.owner_id == owner) & ((places.c.hidden == place) | (places.c.seen < now() - KNOWN_ADDRESS_SECONDS))
    connection.execute(delete(places).where(old))
    connection.execute(insert(places).values(owner_id=owner, hidden=place, seen=now()))


def get_session(connection: Connection, hidden: str) -> Session | None:
    """The session of a token, as long as it lasts."""
    found = (
        select(owners.c.id, owners.c.name, sessions.c.csrf, sessions.c.hidden)
        .join(owners, owners.c.id == sessions.c.owner_id)
        .where(sessions.c.hidden == hidden, sessions.c.until > now())
    )
    row = connection.execute(found).first()
    return None if row is None else Session(*row)


def end_session(connection: Connection, session: Session) -> None:
    """Delete a session."""
    connection.execute(delete(sessions).where(sessions.c.hidden == session.hidden))
