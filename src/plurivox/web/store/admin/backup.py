"""A whole database into another one, empty, of either kind: backup and restore."""

from sqlalchemy import BigInteger, Connection, Engine, MetaData, func, insert, select, text

from plurivox.core.errors import InputError
from plurivox.web.store.database import WRITE_OPTIONS, batched, current_revision, has_tables, migrate
from plurivox.web.store.schema import facts, meta_data, tasks

BATCH_ROWS = 1_000
SKIPPED_TABLES = ("sessions", "alembic_version")  # owners sign in again; what a database is brought to, it knows itself


def copy_database(source: Engine, target: Engine) -> dict[str, int]:
    """All rows, as they were at one moment; table -> how many. Owners must sign in again afterwards.

    A source that an older version wrote stays as it is: its rows go into tables of the same age, which are then brought
    to the newest form.
    """
    counts = {}
    level = {} if source.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    _require_empty(target)
    if not has_tables(source):
        raise InputError("there are no tables to copy; is it the database of this study?")
    migrate(target, current_revision(source))
    with (
        source.connect().execution_options(**level, yield_per=BATCH_ROWS) as old,
        target.connect().execution_options(**WRITE_OPTIONS) as new,
        old.begin(),
        new.begin(),
    ):
        there, here = MetaData(), MetaData()
        there.reflect(old)
        here.reflect(new)  # the same tables, with the types of its own kind of database
        for table in there.sorted_tables:
            if table.name in SKIPPED_TABLES:
                continue
            order = (
                [table.c.repeat_of.is_not(None)] if table.name == "slots" else []
            )  # a repeat points to an earlier row
            n = 0
            for rows in batched(old.execute(select(table).order_by(*order)), BATCH_ROWS):
                new.execute(insert(here.tables[table.name]), [row._asdict() for row in rows])
                n += len(rows)
            counts[table.name] = n
    migrate(target)
    if target.dialect.name != "sqlite":
        with target.connect() as new, new.begin():
            _reset_sequences(new)
    return counts


def _require_empty(target: Engine) -> None:
    if not has_tables(target):
        return
    with target.connect() as connection:
        for table in (tasks, facts):
            if connection.execute(select(func.count()).select_from(table)).scalar_one():
                raise InputError("the database is not empty; restore into a new one")


def _reset_sequences(connection: Connection) -> None:
    """PostgreSQL counts ids by itself: let it go on after the highest."""
    for table in meta_data.sorted_tables:
        column = table.c.get("id")
        if column is not None and isinstance(column.type, BigInteger) and column.autoincrement is True:
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            highest = f"COALESCE((SELECT MAX(id) FROM {table.name}), 0) + 1"
            connection.execute(text(f"SELECT setval({sequence}, {highest}, false)"))
