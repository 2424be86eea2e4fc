"""Open and migrate the database of a study, SQLite or PostgreSQL; bulk inserts, time, error messages."""

import fcntl
import logging
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from alembic import command
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import (
    Connection,
    Engine,
    Table,
    create_engine,
    event,
    inspect,
    text,
)
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from plurivox.core.errors import InputError

logging.getLogger("alembic").setLevel(logging.WARNING)  # not one line per migration
WRITE_OPTIONS = {"writes": True}  # for connections that write: SQLite takes the write lock at BEGIN
READ_OPTIONS = {"reads": True, "postgresql_readonly": True}  # for connections that only read: a write raises an error
SCHEMA_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
MIGRATION_LOCK_ID = 7_561_000  # of PostgreSQL's advisory lock


def create_sqlite_engine(file: Path, timeout: float = 10, max_pages: int = 0) -> Engine:
    """Return a SQLite engine with durable commits (WAL, synchronous = FULL), foreign keys and secure deletion.

    `timeout`: seconds that a statement waits for a lock; `max_pages`: maximal size of the file in pages, 0 for no limit.
    """
    if file.parent.is_dir():
        file.touch(0o600)  # it contains the ids of people
    engine = create_engine(
        f"sqlite:///{file}",
        hide_parameters=True,
        connect_args={"timeout": timeout, "check_same_thread": False},
        pool_size=8,
        max_overflow=16,
    )

    @event.listens_for(engine, "connect")
    def _set_wal_and_secure_deletion_pragmas(connection: Any, _: Any) -> None:
        """Set the PRAGMAs of each new SQLite connection: WAL, durable commits, foreign keys, secure deletion."""
        connection.isolation_level = None  # `_begin_sqlite_transaction` sends BEGIN
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # a committed answer survives a power loss
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # deleted rows are overwritten
        connection.execute("PRAGMA cache_size = -65536")
        if max_pages:
            connection.execute(f"PRAGMA max_page_count = {max_pages}")

    @event.listens_for(engine, "begin")
    def _begin_sqlite_transaction(connection: Connection) -> None:
        """Send BEGIN at the start of a transaction, IMMEDIATE if it writes; make it read-only if so requested."""
        options = connection.get_execution_options()
        connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if options.get('reads') else 'OFF'}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")

    return engine


def create_postgresql_engine(url: str, schema: str = "", statement_and_connect_timeout: float = 10) -> Engine:
    """Return a PostgreSQL engine limited to `schema`; `statement_and_connect_timeout` is in seconds."""
    wait = max(1, int(statement_and_connect_timeout))
    options = f"-c statement_timeout={wait * 1000}"
    if schema:
        if not SCHEMA_NAME.fullmatch(schema):
            raise InputError(f"schema={schema} is not a valid name; use at most 63 letters, digits, _ . and -")
        options += f' -c search_path="{schema}"'  # this schema only: no query reaches the tables of another study
    scheme = url.partition("://")[0]
    try:
        if scheme != "postgresql+psycopg":
            raise ArgumentError
        return create_engine(
            url,
            hide_parameters=True,
            pool_pre_ping=True,
            pool_size=8,
            max_overflow=16,
            pool_timeout=wait,
            connect_args={"connect_timeout": wait, "options": options},
            execution_options={"schema": schema},
        )
    except ArgumentError:  # without the URL, which may contain a password
        raise InputError(f"{scheme}://... is not a database address; write postgresql://user@host/name") from None


def migrate(engine: Engine, revision: str = "head") -> None:
    """Migrate the tables of a database to a schema revision, under a lock, so that only one of several servers migrates."""
    config = Config()
    config.set_main_option("script_location", str(files("plurivox.web.store") / "migrations"))
    config.set_main_option("path_separator", "os")
    try:
        with _hold_migration_lock(engine), engine.connect().execution_options(**WRITE_OPTIONS) as connection:
            if schema := engine.get_execution_options().get("schema"):
                connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
                connection.commit()
            disable_statement_timeout_in_transaction(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, revision)
            connection.commit()
    except DBAPIError as cause:
        raise InputError(f"the database cannot be opened: {first_line_of_database_error(cause)}") from cause


def disable_statement_timeout_in_transaction(connection: Connection) -> None:
    """Disable PostgreSQL's statement timeout until this transaction ends, for statements over all tasks of a large study."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET LOCAL statement_timeout = 0"))


def insert_rows_in_bulk(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert many rows, which all have the same columns; by COPY on PostgreSQL."""
    if not rows:
        return
    names = list(rows[0])
    columns = ", ".join(f'"{name}"' for name in names)
    values = ([row[name] for name in names] for row in rows)
    if connection.dialect.name == "sqlite":
        placeholders = ", ".join("?" * len(names))
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({columns}) VALUES ({placeholders})", [tuple(one) for one in values]
        )
        return
    raw: Any = connection.connection.driver_connection
    statement, error = f"COPY {table.name} ({columns}) FROM STDIN", connection.dialect.loaded_dbapi.Error
    try:
        with raw.cursor() as cursor, cursor.copy(statement) as copy:
            for one in values:
                copy.write_row(one)
    except error as cause:  # raise what SQLAlchemy raises for other statements
        wrapped = DBAPIError.instance(statement, None, cause, error, hide_parameters=True, dialect=connection.dialect)
        raise wrapped from cause


def has_tables(engine: Engine) -> bool:
    """Return whether this database (or this schema) contains the tables of a study."""
    try:
        return inspect(engine).has_table("facts")
    except DBAPIError as cause:
        raise InputError(f"the database cannot be opened: {first_line_of_database_error(cause)}") from cause


def current_revision(engine: Engine) -> str:
    """Return the revision of the last migration that was applied to a database; "base" if none was."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() or "base"


@contextmanager
def _hold_migration_lock(engine: Engine) -> Iterator[None]:
    """Hold the lock that lets one process at a time migrate the database."""
    if engine.dialect.name == "sqlite":
        with Path(f"{engine.url.database}.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
    else:
        with engine.connect() as connection:
            disable_statement_timeout_in_transaction(connection)
            connection.execute(text("SELECT pg_advisory_lock(:n)"), {"n": MIGRATION_LOCK_ID})
            connection.commit()
            try:
                yield
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:n)"), {"n": MIGRATION_LOCK_ID})


def first_line_of_database_error(cause: SQLAlchemyError) -> str:
    """Return the database's error message, first line only, without the statement and its values, which may be private."""
    origin = getattr(cause, "orig", None) or type(cause).__name__
    return (str(origin).splitlines() or [type(cause).__name__])[0]


def current_unix_time() -> float:
    """Return the current time in seconds since 1970."""
    return time.time()


T = TypeVar("T")


def batched(rows: Iterable[T], batch_size: int) -> Iterator[list[T]]:
    """Yield consecutive lists of `batch_size` rows; the last list may be shorter."""
    source = iter(rows)
    while part := list(islice(source, batch_size)):
        yield part
