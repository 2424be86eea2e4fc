"""Open the database of a study: SQLite or PostgreSQL, brought to the newest form by migrations."""

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

logging.getLogger("alembic").setLevel(logging.WARNING)  # a line per migration is of no use to people
WRITE_OPTIONS = {"writes": True}  # execution option of a connection that writes: SQLite then locks at the beginning
READ_OPTIONS = {"reads": True, "postgresql_readonly": True}  # of one that only reads: a write raises an error
SCHEMA_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
MIGRATION_LOCK_ID = 7_561_000  # a number of our own for PostgreSQL's advisory lock


def open_sqlite(file: Path, timeout: float = 10, max_pages: int = 0) -> Engine:
    """A SQLite engine with the promises we need: durable commits, foreign keys, no waiting for ever.

    `timeout`: seconds that a statement waits for a lock; `max_pages`: the size at which it is full, 0 for the disk's.
    """
    if file.parent.is_dir():
        file.touch(0o600)  # it holds people's ids
    engine = create_engine(
        f"sqlite:///{file}",
        hide_parameters=True,
        connect_args={"timeout": timeout, "check_same_thread": False},
        pool_size=8,
        max_overflow=16,
    )

    @event.listens_for(engine, "connect")
    def _prepare(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # we say BEGIN ourselves
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")  # what is acknowledged survives a loss of power
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA secure_delete = ON")  # what is erased is overwritten
        connection.execute("PRAGMA cache_size = -65536")
        if max_pages:
            connection.execute(f"PRAGMA max_page_count = {max_pages}")

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        options = connection.get_execution_options()
        connection.exec_driver_sql(f"PRAGMA query_only = {'ON' if options.get('reads') else 'OFF'}")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if options.get("writes") else "BEGIN")

    return engine


def open_postgresql(url: str, schema: str = "", timeout: float = 10) -> Engine:
    """A PostgreSQL engine whose statements, and waits for a connection, take `timeout` seconds at most."""
    wait = max(1, int(timeout))
    options = f"-c statement_timeout={wait * 1000}"
    if schema:
        if not SCHEMA_NAME.fullmatch(schema):
            raise InputError(f"schema={schema} cannot be: letters, digits, _ . and -, at most 63 of them")
        options += f' -c search_path="{schema}"'  # and nothing else: no query reaches another study's tables
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
    except ArgumentError:  # told without what may be a password
        raise InputError(f"{scheme}://... is no database address; write postgresql://user@host/name") from None


def migrate(engine: Engine, to: str = "head") -> None:
    """Bring the tables to the newest form; of several servers that start at once, one does it."""
    config = Config()
    config.set_main_option("script_location", str(files("plurivox.web.store") / "migrations"))
    config.set_main_option("path_separator", "os")
    try:
        with _migration_lock(engine), engine.connect().execution_options(**WRITE_OPTIONS) as connection:
            if schema := engine.get_execution_options().get("schema"):
                connection.execute(text(f'CREATE SCHEMA IF NOT EXISTS "{schema}"'))
                connection.commit()
            disable_statement_timeout(connection)
            config.attributes["connection"] = connection
            command.upgrade(config, to)
            connection.commit()
    except DBAPIError as cause:
        raise InputError(f"the database cannot be opened: {database_message(cause)}") from cause


def disable_statement_timeout(connection: Connection) -> None:
    """Until its end, this transaction may take as long as it takes: what is done to all tasks of a large study."""
    if connection.dialect.name != "sqlite":
        connection.execute(text("SET LOCAL statement_timeout = 0"))


def insert_rows(connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]) -> None:
    """Many rows into a table at once: by COPY where the database has it. All rows name the same columns."""
    if not rows:
        return
    names = list(rows[0])
    columns = ", ".join(f'"{name}"' for name in names)
    values = ([row[name] for name in names] for row in rows)
    if connection.dialect.name == "sqlite":
        marks = ", ".join("?" * len(names))
        connection.exec_driver_sql(
            f"INSERT INTO {table.name} ({columns}) VALUES ({marks})", [tuple(one) for one in values]
        )
        return
    raw: Any = connection.connection.driver_connection
    said, fault = f"COPY {table.name} ({columns}) FROM STDIN", connection.dialect.loaded_dbapi.Error
    try:
        with raw.cursor() as cursor, cursor.copy(said) as copy:
            for one in values:
                copy.write_row(one)
    except fault as cause:  # as every other statement tells it
        raise DBAPIError.instance(said, None, cause, fault, hide_parameters=True, dialect=connection.dialect) from cause


def has_tables(engine: Engine) -> bool:
    """Whether a study lives in this database, or in this schema of it."""
    try:
        return inspect(engine).has_table("facts")
    except DBAPIError as cause:
        raise InputError(f"the database cannot be opened: {database_message(cause)}") from cause


def current_revision(engine: Engine) -> str:
    """The migration up to which a database has come."""
    with engine.connect() as connection:
        return MigrationContext.configure(connection).get_current_revision() or "base"


@contextmanager
def _migration_lock(engine: Engine) -> Iterator[None]:
    """Nobody else migrates meanwhile."""
    if engine.dialect.name == "sqlite":
        with Path(f"{engine.url.database}.lock").open("w") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
    else:
        with engine.connect() as connection:
            disable_statement_timeout(connection)
            connection.execute(text("SELECT pg_advisory_lock(:n)"), {"n": MIGRATION_LOCK_ID})
            connection.commit()
            try:
                yield
            finally:
                connection.execute(text("SELECT pg_advisory_unlock(:n)"), {"n": MIGRATION_LOCK_ID})


def database_message(cause: SQLAlchemyError) -> str:
    """What the database said, without the statement and its values: these may hold what people wrote."""
    origin = getattr(cause, "orig", None) or type(cause).__name__
    return (str(origin).splitlines() or [type(cause).__name__])[0]


def now() -> float:
    """Seconds since 1970."""
    return time.time()


T = TypeVar("T")


def batched(rows: Iterable[T], n: int) -> Iterator[list[T]]:
    """Lists of `n` rows; the last one may be shorter."""
    source = iter(rows)
    while part := list(islice(source, n)):
        yield part
