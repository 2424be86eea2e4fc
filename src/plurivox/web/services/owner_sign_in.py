"""Sign-in of owners: set-up token of the first owner, passwords, sessions."""

import secrets
from dataclasses import dataclass
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError
from sqlalchemy import Connection

from plurivox.web.store.admin import owner_accounts_and_sessions
from plurivox.web.store.admin.audit_log import SignInOrigin
from plurivox.web.study.secret_key import StudySecret

hasher = PasswordHasher()


@dataclass(frozen=True)
class Tokens:
    """The two tokens of an owner's new session: the session token for the cookie, and the CSRF token for writes."""

    session: str
    csrf: str


def create_setup_token_unless_owner_exists(connection: Connection, keys: StudySecret) -> str | None:
    """Create, save and return a one-time token for setting up the first owner; None if the study has an owner."""
    if owner_accounts_and_sessions.has_owner(connection):
        return None
    token = secrets.token_urlsafe(24)
    owner_accounts_and_sessions.add_setup_token_hash_and_keep_last_ten(connection, keys.hash_token(token))
    return token


def hash_password(password: str) -> str:
    """Return the argon2 hash of a password; slow on purpose."""
    return hasher.hash(password)


def verify_password(password_hash: str | None, password: str) -> bool:
    """Return whether a password matches a hash; without a hash (unknown owner), False after the same time."""
    try:
        return hasher.verify(password_hash or _hash_of_random_dummy_password(), password)
    except (VerificationError, InvalidHashError):
        return False


@cache
def _hash_of_random_dummy_password() -> str:
    """Return the hash of a random password, to verify against if the owner is unknown, so that timing reveals nothing."""
    return hasher.hash(secrets.token_hex(16))


def hash_client_address(keys: StudySecret, address: str) -> str:
    """Return the keyed hash of a network address, as stored in the database."""
    return keys.hash_token(f"place {address}")


def begin_owner_session_and_return_tokens(
    connection: Connection, keys: StudySecret, owner_id: int, hours: float, address_hash: str, origin: SignInOrigin
) -> Tokens:
    """Begin a sign-in session of an owner, save the address as known, log it, and return the session and CSRF tokens."""
    tokens = Tokens(secrets.token_urlsafe(32), secrets.token_urlsafe(24))
    owner_accounts_and_sessions.begin_owner_session_and_delete_expired(
        connection, keys.hash_token(tokens.session), tokens.csrf, owner_id, hours, address_hash, origin
    )
    return tokens
