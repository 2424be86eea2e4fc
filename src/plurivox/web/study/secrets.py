"""The secret of a study, made once, and what is signed or hidden with it."""

import base64
import contextlib
import hashlib
import hmac
import os
import secrets
from pathlib import Path

from sqlalchemy import Connection

from plurivox.core.errors import InputError
from plurivox.web.settings import Settings
from plurivox.web.store.collect.workers import has_workers

FILE = "secret.key"
LENGTH = 32


class StudySecret:
    """Signs tokens and links, each for one purpose, and turns people's ids into pseudonyms."""

    def __init__(self, secret: bytes) -> None:
        if len(secret) != LENGTH:
            raise InputError(f"a secret has {LENGTH} bytes, this one has {len(secret)}; restore it from a backup")
        self._secret = secret

    @classmethod
    def of(cls, folder: Path) -> "StudySecret":
        """The secret in a folder, made at the first call; only its owner may read the file."""
        file = folder / FILE
        if not file.exists():
            cls._make(folder, file)
        if file.stat().st_mode & 0o077:
            raise InputError(f"{file} can be read by others; run: chmod 600 {file}")
        return cls(file.read_bytes())

    @staticmethod
    def _make(folder: Path, file: Path) -> None:
        with contextlib.suppress(FileExistsError):
            part = folder / f".{FILE}.{secrets.token_hex(4)}"
            handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.write(handle, secrets.token_bytes(LENGTH))
                os.fsync(handle)
            finally:
                os.close(handle)
            try:
                os.link(part, file)  # whole or not at all; of two servers that start at once, one wins
            finally:
                part.unlink()

    def sign(self, purpose: str, value: str) -> str:
        """A value that we shall know again; it holds no secret, but nobody else can make it."""
        return f"{value}.{self._mac(purpose, value)}"

    def opened(self, purpose: str, signed: str) -> str | None:
        """The value of a signed text; None where it is not ours, or for another purpose."""
        value, _, mac = signed.rpartition(".")
        return value if hmac.compare_digest(mac.encode(), self._mac(purpose, value).encode()) else None

    def pseudonym(self, person: str) -> str:
        """A name that leads back to the person only for whoever has the secret and the person's id."""
        return "w" + self._mac("pseudonym", person)[:15].replace("-", "a").replace("_", "b")

    def hidden(self, token: str) -> str:
        """What the database keeps of a token."""
        return self._mac("hidden", token)

    def _mac(self, purpose: str, value: str) -> str:
        digest = hmac.new(self._secret, f"{purpose}\n{value}".encode(), hashlib.sha256).digest()
        return base64.urlsafe_b64encode(digest[:24]).decode()


def keys_of(connection: Connection, settings: Settings) -> StudySecret:
    """The secret of a study; a new one only where nobody came in by the old one."""
    file = settings.folder / FILE
    if not file.exists() and has_workers(connection):
        raise InputError(
            f"{file} is not there, but people came in by it; bring it back from a backup "
            "(a new one would lock them out and give them other pseudonyms)"
        )
    return StudySecret.of(settings.folder)
