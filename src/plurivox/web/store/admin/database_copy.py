"""Copy a whole database into an empty one, SQLite or PostgreSQL: backup and restore."""

from sqlalchemy import BigInteger, Connection, Engine, MetaData, func, insert, select, text

from plurivox.core.errors import InputError
from plurivox.web.store.database import WRITE_OPTIONS, batched, current_revision, has_tables, migrate
from plurivox.web.store.schema import facts, meta_data, tasks

BATCH_ROWS = 1_000
SKIPPED_TABLES = ("sessions", "alembic_version")  # owners must sign in again; migrations write the revision


def copy_study_and_count_rows_by_table(source: Engine, empty_target: Engine) -> dict[str, int]:
    """Copy all rows of a study except sessions, as of one moment, into an empty database; return table -> rows copied.

    A source written by an older version is not changed: its rows are copied into tables of the same revision, which are then
    migrated. Raise InputError if the target is not empty or the source has no tables.
    """
    counts = {}
    level = {} if source.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    _raise_if_database_has_tasks_or_facts(empty_target)
    if not has_tables(source):
        raise InputError("the database has no tables to copy; check that it is the database of this study")
    migrate(empty_target, current_revision(source))
    with (
        source.connect().execution_options(**level, yield_per=BATCH_ROWS) as old,
        empty_target.connect().execution_options(**WRITE_OPTIONS) as new,
        old.begin(),
        new.begin(),
    ):
        source_tables, target_tables = MetaData(), MetaData()
        source_tables.reflect(old)
        target_tables.reflect(new)  # the same tables, with the column types of the target
        for table in source_tables.sorted_tables:
            if table.name in SKIPPED_TABLES:
                continue
            # a repeat points to an earlier row
            order = [table.c.repeat_of.is_not(None)] if table.name == "slots" else []
            n = 0
            for rows in batched(old.execute(select(table).order_by(*order)), BATCH_ROWS):
                new.execute(insert(target_tables.tables[table.name]), [row._asdict() for row in rows])
                n += len(rows)
            counts[table.name] = n
    migrate(empty_target)
    if empty_target.dialect.name != "sqlite":
        with empty_target.connect() as new, new.begin():
            _advance_postgresql_id_sequences_past_highest_ids(new)
    return counts


def _raise_if_database_has_tasks_or_facts(target: Engine) -> None:
    """Raise InputError if the target database of a copy already contains a study."""
    if not has_tables(target):
        return
    with target.connect() as connection:
        for table in (tasks, facts):
            if connection.execute(select(func.count()).select_from(table)).scalar_one():
                raise InputError("the target database is not empty; restore into a new one")


def _advance_postgresql_id_sequences_past_highest_ids(connection: Connection) -> None:
    """Set PostgreSQL's id sequences to continue after the highest id of each table."""
    for table in meta_data.sorted_tables:
        column = table.c.get("id")
        if column is not None and isinstance(column.type, BigInteger) and column.autoincrement is True:
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            highest = f"COALESCE((SELECT MAX(id) FROM {table.name}), 0) + 1"
            connection.execute(text(f"SELECT setval({sequence}, {highest}, false)"))
