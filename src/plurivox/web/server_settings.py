"""Settings of a server. Flags of `plurivox studio serve` override the environment variables PLURIVOX_..."""

import ipaddress
import re
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

# first segments of the server's own paths
RESERVED_PATHS = (
    "api",
    "health",
    "join",
    "media",
    "owner",
    "owner-preview",
    "static",
    "work",
)
URL_PATH = re.compile(r"(/[A-Za-z0-9][A-Za-z0-9_.~-]*)*")
DEFAULT_PORTS = {"http": 80, "https": 443}


def normalize_base_url(url: str) -> str:
    """Return the base URL as browsers write it in the Origin header: lower-case host, no default port; ValueError if invalid.

    >>> normalize_base_url("https://Lab.example:443/study/")
    'https://lab.example/study'
    """
    parts = urlsplit(url.strip().rstrip("/"))
    is_plain = not (parts.username or parts.query or parts.fragment) and URL_PATH.fullmatch(parts.path)
    if parts.scheme not in DEFAULT_PORTS or not parts.hostname or not is_plain:
        raise ValueError(f"{url!r} is not a base URL; write https://lab.example or https://lab.example/study")
    if (first := parts.path.partition("/")[2].partition("/")[0]) in RESERVED_PATHS:
        raise ValueError(
            f"the path of a base URL cannot begin with /{first}, a page of the studio; choose another path"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    port = "" if parts.port in (None, DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
    return f"{parts.scheme}://{host}{port}{parts.path}"


def is_loopback(host: str) -> bool:
    """Return whether a host name or address is of this machine only.

    >>> [is_loopback(one) for one in ("127.0.0.1", "::1", "localhost", "0.0.0.0", "::", "192.0.2.7", "lab.example")]
    [True, True, True, False, False, False, False]
    """
    if host.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]").partition("%")[0]).is_loopback
    except ValueError:
        return False


def warning_if_reachable_without_https(host: str, base_url: str) -> str:
    """Return a warning if other machines can reach a server that listens on `host` without https, else an empty text."""
    if is_loopback(host) or base_url.startswith("https://"):
        return ""
    local = (
        " The links of the studio are for this machine only." if is_loopback(urlsplit(base_url).hostname or "") else ""
    )
    return (
        f"other machines can reach the server at {host} without https: passwords and answers can be read on their way.{local} "
        "Put a proxy with https in front of it and give --base-url https://..., or listen on 127.0.0.1 only (--host 127.0.0.1)"
    )


def warning_if_visitors_share_an_address(base_url: str, behind_proxy: str) -> str:
    """Return a warning if visitors come through a proxy (https), and all count as its one address, else an empty text."""
    if behind_proxy or not base_url.startswith("https://"):
        return ""
    return (
        "all visitors will count as one address in limits and in the audit log, since they come through a proxy whose headers "
        "are not trusted; give its address, such as --behind-proxy 127.0.0.1"
    )


class Settings(BaseSettings):
    """Settings of a server that do not depend on its study: addresses, limits, database."""

    model_config = SettingsConfigDict(env_prefix="PLURIVOX_", extra="ignore", frozen=True)

    folder: Path = Path()
    database: str = ""  # empty: SQLite in the study's folder; postgresql://...?schema=NAME: that schema
    base_url: str = "http://127.0.0.1:8000"
    behind_proxy: str = ""  # comma-separated proxies whose X-Forwarded-For and -Proto are trusted
    body_limit: int = Field(default=262_144, ge=1024)  # bytes
    body_seconds: float = Field(default=10, gt=0)  # a client that takes longer to send its body is disconnected
    requests_per_minute: int = Field(default=600, ge=1)  # per worker or address
    enters_per_minute: int = Field(default=60, ge=1)  # per address
    arrivals_per_hour: int = Field(default=30, ge=1)  # new people by a platform's link, per address
    drafts_per_minute: int = Field(default=60, ge=1)  # per worker
    logins_per_minute: int = Field(default=10, ge=1)  # per address
    snapshot_seconds: float = Field(default=5, gt=0)  # seconds between rounds of the background thread
    session_hours: float = Field(default=12, gt=0)  # lifetime of an owner's session
    write_seconds: float = Field(default=10, gt=0)  # timeout of a write to the database
    report_seconds: float = Field(default=900, gt=0)  # limit of the process that makes a report
    report_megabytes: int = Field(default=4096, ge=1024)  # of the address space of this process
    max_pages: int = Field(default=0, ge=0)  # SQLite: maximal size of the database in pages; 0: no limit
    is_leader: bool = True  # whether this server may become the leader, which computes aggregates
    processes: int = Field(default=1, ge=1)  # server processes
    multi_study: bool = False  # whether this study is one of several on the server, under its name

    @property
    def is_https(self) -> bool:
        """Whether the base URL of the server begins with https://."""
        return self.base_url.startswith("https://")

    @property
    def path_prefix(self) -> str:
        """The path of the server's base URL, with which all URLs of the studio begin; empty if there is none."""
        return urlsplit(self.base_url).path.rstrip("/")

    @property
    def database_url_without_schema(self) -> str:
        """The URL of the database for SQLAlchemy, without the schema."""
        if not self.database:
            return f"sqlite:///{self.folder / 'study.db'}"
        head, sep, tail = self.database.partition("://")
        tail, _, query = tail.partition("?")
        rest = "&".join(field for field in query.split("&") if field and not field.startswith("schema="))
        tail += f"?{rest}" if rest else ""
        return f"postgresql+psycopg{sep}{tail}" if head in ("postgresql", "postgres") else self.database

    @property
    def schema_name(self) -> str:
        """The PostgreSQL schema that holds the tables of the study; empty: the default schema."""
        fields = self.database.partition("?")[2].split("&")
        return next((field.partition("=")[2] for field in fields if field.startswith("schema=")), "")

    @field_validator("base_url")
    @classmethod
    def _normalized_base_url(cls, base_url: str) -> str:
        """Return the base URL in normal form; ValueError if it is invalid."""
        return normalize_base_url(base_url)
