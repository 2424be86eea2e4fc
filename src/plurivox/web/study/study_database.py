"""The database of a study: SQLite in its folder, or the PostgreSQL database of the settings."""

from sqlalchemy import Engine

from plurivox.web.server_settings import Settings
from plurivox.web.store.database import create_postgresql_engine, create_sqlite_engine


def open_database(settings: Settings) -> Engine:
    """Return an SQLAlchemy engine for the study's database, whose tables may be missing or of an older version."""
    if not settings.database:
        return create_sqlite_engine(settings.folder / "study.db", settings.write_seconds, settings.max_pages)
    return create_postgresql_engine(settings.database_url_without_schema, settings.schema_name, settings.write_seconds)
