"""Owners sign in: the set-up token of the first one, passwords, sessions."""

import secrets
from dataclasses import dataclass
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection

from plurivox.web.store.admin import owners
from plurivox.web.study.secrets import StudySecret

hasher = PasswordHasher()


@dataclass(frozen=True)
class Tokens:
    """What a new session is known by: the cookie's token, and the token for writes."""

    session: str
    csrf: str


def offer_setup(connection: Connection, keys: StudySecret) -> str | None:
    """A one-time token for the first owner; None where there is one."""
    if owners.has_owner(connection):
        return None
    token = secrets.token_urlsafe(24)
    owners.offer_token(connection, keys.hash_token(token))
    return token


def hash_password(password: str) -> str:
    """What the database keeps of a password; slow on purpose."""
    return hasher.hash(password)


def is_password(password_hash: str | None, password: str) -> bool:
    """Whether a password has this hash; slow on purpose, and as slow for nobody's (None)."""
    try:
        return hasher.verify(password_hash or _nobody(), password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _nobody() -> str:
    """A hash that no password has, so that an unknown name takes as long as a wrong password."""
    return hasher.hash(secrets.token_hex(16))


def place_of(keys: StudySecret, address: str) -> str:
    """What the database keeps of an address."""
    return keys.hash_token(f"place {address}")


def begin_session(connection: Connection, keys: StudySecret, owner: int, hours: float, place: str) -> Tokens:
    """A new session of an owner; its place is known from now on."""
    made = Tokens(secrets.token_urlsafe(32), secrets.token_urlsafe(24))
    owners.begin_session(connection, keys.hash_token(made.session), made.csrf, owner, hours, place)
    return made
