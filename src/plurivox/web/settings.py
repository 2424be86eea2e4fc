"""Settings: how a server runs. Flags of `plurivox studio serve` go before environment variables PLURIVOX_..."""

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """Everything about a server that is not about its study."""

    model_config = SettingsConfigDict(env_prefix="PLURIVOX_", extra="ignore", frozen=True)

    folder: Path = Path()
    database: str = ""  # empty: SQLite in the study's folder
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
    pages: bool = True

    @property
    def secure(self) -> bool:
        """Whether people reach us by https."""
        return self.base_url.startswith("https://")

    @property
    def url(self) -> str:
        """The database as SQLAlchemy names it."""
        if not self.database:
            return f"sqlite:///{self.folder / 'study.db'}"
        head, sep, tail = self.database.partition("://")
        return f"postgresql+psycopg{sep}{tail}" if head in ("postgresql", "postgres") else self.database
