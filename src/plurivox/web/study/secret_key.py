"""The secret key of a study, which signs tokens and links, hashes tokens and makes pseudonyms."""

import base64
import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from sqlalchemy import Connection

from plurivox.core.errors import InputError
from plurivox.web.server_settings import Settings
from plurivox.web.store.collect.workers import has_workers

FILE = "secret.key"
LENGTH = 32


class StudySecret:
    """The secret key of a study; signs tokens and links, hashes tokens and derives pseudonyms."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) != LENGTH:
            raise InputError(f"{FILE} must have {LENGTH} bytes, but has {len(secret)}; restore it from a backup")
        self._secret = secret

    @classmethod
    def read_or_create_secret(cls, folder: Path) -> "StudySecret":
        """Read the secret key in a study folder, created if missing; raise InputError if other users can read the file."""
        file = folder / FILE
        if not file.exists():
            cls._write_random_secret_unless_exists(folder, file)
        if file.stat().st_mode & 0o077:
            raise InputError(f"other users can read {file}; run: chmod 600 {file}")
        return cls(file.read_bytes())

    @staticmethod
    def _write_random_secret_unless_exists(folder: Path, secret_file: Path) -> None:
        """Write a random secret to `secret_file` atomically, unless another process does so first."""
        with contextlib.suppress(FileExistsError):
            part = folder / f".{FILE}.{secrets.token_hex(4)}"
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, secrets.token_bytes(LENGTH))
                os.fsync(handle)
            finally:
                os.close(handle)
            try:
                os.link(part, secret_file)  # atomic: if two servers start at the same time, one wins
            finally:
                part.unlink()

    def sign(self, purpose: str, value: str) -> str:
        """Return `value` with a signature for `purpose` appended."""
        return f"{value}.{self._hmac_as_url_safe_text(purpose, value)}"

    def verify(self, purpose: str, signed_value: str) -> str | None:
        """Return the value in a text made by `sign`; None if the signature is invalid or for another purpose."""
        value, _, mac = signed_value.rpartition(".")
        return (
            value if hmac.compare_digest(mac.encode(), self._hmac_as_url_safe_text(purpose, value).encode()) else None
        )

    def pseudonym(self, person_id: str) -> str:
        """Return the pseudonym of a person: a hash of the person's id, keyed with the secret."""
        return "w" + self._hmac_as_url_safe_text("pseudonym", person_id)[:15].replace("-", "a").replace("_", "b")

    def hash_token(self, token: str) -> str:
        """Return the keyed hash of a token, which the database stores instead of the token."""
        return self._hmac_as_url_safe_text("hidden", token)

    def _hmac_as_url_safe_text(self, purpose: str, value: str) -> str:
        """Return the HMAC of a value for a purpose, as URL-safe text."""
        digest = hmac.new(self._secret, f"{purpose}\n{value}".encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:24]).decode()


def read_secret_or_create_if_no_workers(connection: Connection, settings: Settings) -> StudySecret:
    """Read the secret key of a study, created if missing; raise InputError if it is missing but the study has workers."""
    file = settings.folder / FILE
    if not file.exists() and has_workers(connection):
        raise InputError(
            f"{file} is missing, but the study has workers; restore it from a backup "
            "(a new secret would lock the workers out and change their pseudonyms)"
        )
    return StudySecret.read_or_create_secret(settings.folder)
