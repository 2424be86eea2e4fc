"""A whole database into another one, empty, of either kind: backup and restore."""

from sqlalchemy import BigInteger, Connection, Engine, func, insert, select, text

from plurivox.core.errors import InputError
from plurivox.web.store.database import WRITES
from plurivox.web.store.items import batched
from plurivox.web.store.tables import facts, meta_data, sessions, slots, tasks

AT_ONCE = 1_000


def copy(source: Engine, target: Engine) -> dict[str, int]:
    """All rows, as they were at one moment; table -> how many. Owners must sign in again afterwards."""
    counts = {}
    level = {} if source.dialect.name == "sqlite" else {"isolation_level": "REPEATABLE READ"}
    with (
        source.connect().execution_options(**level, yield_per=AT_ONCE) as old,
        target.connect().execution_options(**WRITES) as new,
        old.begin(),
        new.begin(),
    ):
        for table in (tasks, facts):
            if new.execute(select(func.count()).select_from(table)).scalar_one():
                raise InputError("the database is not empty; restore into a new one")
        for table in meta_data.sorted_tables:
            if table is sessions:
                continue
            order = [slots.c.repeat_of.is_not(None)] if table is slots else []  # a repeat points to an earlier row
            n = 0
            for rows in batched(old.execute(select(table).order_by(*order)), AT_ONCE):
                new.execute(insert(table), [row._asdict() for row in rows])
                n += len(rows)
            counts[table.name] = n
        if target.dialect.name != "sqlite":
            _count_on(new)
    return counts


def _count_on(connection: Connection) -> None:
    """PostgreSQL counts ids by itself: let it go on after the highest."""
    for table in meta_data.sorted_tables:
        column = table.c.get("id")
        if column is not None and isinstance(column.type, BigInteger) and column.autoincrement is True:
            sequence = f"pg_get_serial_sequence('{table.name}', 'id')"
            highest = f"COALESCE((SELECT MAX(id) FROM {table.name}), 0) + 1"
            connection.execute(text(f"SELECT setval({sequence}, {highest}, false)"))
