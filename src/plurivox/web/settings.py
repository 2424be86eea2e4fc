"""Settings: how a server runs. Flags of `plurivox studio serve` go before environment variables PLURIVOX_..."""

import re
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

OURS = ("api", "health", "join", "media", "owner", "static", "work")  # the first words of our own paths
PLACE = re.compile(r"(/[A-Za-z0-9][A-Za-z0-9_.~-]*)*")
PORTS = {"http": 80, "https": 443}


def home_of(address: str) -> str:
    """The address by which people come, as browsers write it in their Origin.

    >>> home_of("https://Lab.example:443/study/")
    'https://lab.example/study'
    """
    parts = urlsplit(address.strip().rstrip("/"))
    plain = not (parts.username or parts.query or parts.fragment) and PLACE.fullmatch(parts.path)
    if parts.scheme not in PORTS or not parts.hostname or not plain:
        raise ValueError(f"{address!r} is no address; write https://lab.example or https://lab.example/study")
    if (first := parts.path.partition("/")[2].partition("/")[0]) in OURS:
        raise ValueError(f"an address cannot begin with /{first}, which is a page of the studio; choose another path")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path}"


class Settings(BaseSettings):
    """Everything about a server that is not about its study."""

    model_config = SettingsConfigDict(env_prefix="PLURIVOX_", extra="ignore", frozen=True)

    folder: Path = Path()
    database: str = ""  # empty: SQLite in the study's folder; postgresql://...?schema=NAME: a schema of its own there
    base_url: str = "http://127.0.0.1:8000"
    behind_proxy: str = ""  # addresses of proxies whose X-Forwarded-For and -Proto are believed, commas between
    body_limit: int = Field(default=262_144, ge=1024)  # bytes
    body_seconds: float = Field(default=10, gt=0)  # a client that sends its body more slowly is let go
    requests_per_minute: int = Field(default=600, ge=1)  # of one worker or address
    enters_per_minute: int = Field(default=60, ge=1)  # of one address
    drafts_per_minute: int = Field(default=60, ge=1)  # of one worker
    logins_per_minute: int = Field(default=10, ge=1)  # of one address
    snapshot_seconds: float = Field(default=5, gt=0)  # aggregates are computed anew this long after a new answer
    session_hours: float = Field(default=12, gt=0)  # of an owner
    write_seconds: float = Field(default=10, gt=0)  # a database that takes longer counts as lost
    max_pages: int = Field(default=0, ge=0)  # SQLite: the size at which it is full; 0: the disk's
    is_leader: bool = True  # whether this server may compute aggregates
    processes: int = Field(default=1, ge=1)  # of this server
    multi_study: bool = False  # whether it is one of several studies of this server, under its name

    @property
    def secure(self) -> bool:
        """Whether people reach us by https."""
        return self.base_url.startswith("https://")

    @property
    def prefix(self) -> str:
        """The path before all of ours, as people's browsers see it; empty where there is none."""
        return urlsplit(self.base_url).path.rstrip("/")

    @property
    def url(self) -> str:
        """The database as SQLAlchemy names it."""
        if not self.database:
            return f"sqlite:///{self.folder / 'study.db'}"
        head, sep, tail = self.database.partition("://")
        tail, _, query = tail.partition("?")
        rest = "&".join(word for word in query.split("&") if word and not word.startswith("schema="))
        tail += f"?{rest}" if rest else ""
        return f"postgresql+psycopg{sep}{tail}" if head in ("postgresql", "postgres") else self.database

    @property
    def schema_name(self) -> str:
        """The schema of a PostgreSQL database in which the study lives; empty: the usual one."""
        words = self.database.partition("?")[2].split("&")
        return next((word.partition("=")[2] for word in words if word.startswith("schema=")), "")

    @field_validator("base_url")
    @classmethod
    def _is_an_address(cls, value: str) -> str:
        return home_of(value)
