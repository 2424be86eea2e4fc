"""Owners: set-up, passwords, sessions."""

import hmac
import secrets
from dataclasses import dataclass
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection, delete, func, insert, select

from plurivox.web.store.admin.audit_log import tell
from plurivox.web.store.database import now
from plurivox.web.store.errors import Forbidden
from plurivox.web.store.kv import fact, set_fact
from plurivox.web.store.schema import facts, owners, places, sessions
from plurivox.web.study.secrets import Keys

SETUP = "setup"
REMEMBERED = 180 * 86400.0  # seconds for which a place is known after the last time
hasher = PasswordHasher()


@dataclass(frozen=True)
class Session:
    """Somebody who is signed in."""

    owner: int
    name: str
    csrf: str
    hidden: str


def same(one: str, other: str) -> bool:
    """Whether two secrets are equal, in a time that tells nothing."""
    return hmac.compare_digest(one.encode(), other.encode())


def offer_setup(connection: Connection, keys: Keys) -> str | None:
    """A one-time token for the first owner; None where there is one."""
    if connection.execute(select(func.count()).select_from(owners)).scalar_one():
        return None
    token = secrets.token_urlsafe(24)
    set_fact(connection, SETUP, [*(fact(connection, SETUP) or [])[-9:], keys.hidden(token)])
    return token


def set_up(connection: Connection, hidden: str, name: str, password_hash: str) -> int:
    """The first owner; the token is used up. Its row is held, so that of two who bring it at once one is late."""
    connection.execute(select(facts.c.name).where(facts.c.name == SETUP).with_for_update())
    offered = fact(connection, SETUP) or []
    if not any(same(hidden, one) for one in offered):
        raise Forbidden("wrong-token", "this token is not the one that the terminal showed, or it is used up")
    set_fact(connection, SETUP, [])
    key = connection.execute(insert(owners).values(name=name, password=password_hash)).inserted_primary_key
    assert key is not None
    tell(connection, name, "owner set up")
    return int(key[0])


@cache
def nobody() -> str:
    """A hash that no password has, so that an unknown name takes as long as a wrong password."""
    return hasher.hash(secrets.token_hex(16))


def place_of(keys: Keys, address: str) -> str:
    """What the store keeps of an address."""
    return keys.hidden(f"place {address}")


def password_of(connection: Connection, name: str, place: str) -> tuple[int | None, str, bool]:
    """(owner, hash to check a password against, whether they have signed in from this place); of nobody where there is
    no such owner."""
    row = connection.execute(select(owners.c.id, owners.c.password).where(owners.c.name == name)).first()
    owner, password_hash = (None, nobody()) if row is None else (row.id, row.password)
    here = select(places.c.seen).where(places.c.owner_id == (owner or 0), places.c.hidden == place)
    seen = connection.execute(here).scalar()  # asked for nobody too: it takes as long
    return owner, password_hash, seen is not None and seen > now() - REMEMBERED


def fits(password_hash: str, password: str) -> bool:
    """Whether it is the password; slow on purpose."""
    try:
        return hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False


def begin_session(connection: Connection, keys: Keys, owner: int, hours: float, place: str) -> tuple[str, str]:
    """(token for the cookie, token for writes); the place is known from now on."""
    token, csrf = secrets.token_urlsafe(32), secrets.token_urlsafe(24)
    connection.execute(delete(sessions).where(sessions.c.until < now()))
    row = {"hidden": keys.hidden(token), "owner_id": owner, "csrf": csrf, "until": now() + hours * 3600}
    connection.execute(insert(sessions).values(row))
    _remember(connection, owner, place)
    return token, csrf


def _remember(connection: Connection, owner: int, place: str) -> None:
    """Know a place again; those not seen for long are forgotten."""
    # one sign-in after another; a lock that their sessions, which point to the same owner, do not wait for
    connection.execute(select(owners.c.id).where(owners.c.id == owner).with_for_update(key_share=True))
    old = (places.c.owner_id == owner) & ((places.c.hidden == place) | (places.c.seen < now() - REMEMBERED))
    connection.execute(delete(places).where(old))
    connection.execute(insert(places).values(owner_id=owner, hidden=place, seen=now()))


def session_of(connection: Connection, hidden: str) -> Session | None:
    """The session of a token, as long as it lasts."""
    found = (
        select(owners.c.id, owners.c.name, sessions.c.csrf, sessions.c.hidden)
        .join(owners, owners.c.id == sessions.c.owner_id)
        .where(sessions.c.hidden == hidden, sessions.c.until > now())
    )
    row = connection.execute(found).first()
    return None if row is None else Session(*row)


def end_session(connection: Connection, session: Session) -> None:
    connection.execute(delete(sessions).where(sessions.c.hidden == session.hidden))
