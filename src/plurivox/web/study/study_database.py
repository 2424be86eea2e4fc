"""The database of a study: SQLite in its folder, or the PostgreSQL database of the settings."""

from sqlalchemy import Engine

from plurivox.web.settings import Settings
from plurivox.web.store.database import open_postgresql, open_sqlite


def open_database(settings: Settings) -> Engine:
    """Return an SQLAlchemy engine for the study's database, whose tables may be missing or of an older version."""
    if not settings.database:
        return open_sqlite(settings.folder / "study.db", settings.write_seconds, settings.max_pages)
    return open_postgresql(settings.database_url, settings.schema_name, settings.write_seconds)
