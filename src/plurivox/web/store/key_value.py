"""Key-value pairs of a study in the table `facts`, with JSON values."""

import json
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from plurivox.web.store.schema import facts

SELECT_VALUE = select(facts.c.value).where(facts.c.name == bindparam("name"))


def kv_set(connection: Connection, name: str, value: Any) -> None:
    """Write the JSON value of a key, in place of the former one."""
    connection.execute(delete(facts).where(facts.c.name == name))
    connection.execute(insert(facts).values(name=name, value=json.dumps(value)))


def kv_get(connection: Connection, name: str) -> Any:
    """Return the value of a key, parsed from JSON; None if there is none."""
    text = connection.execute(SELECT_VALUE, {"name": name}).scalar()
    return None if text is None else json.loads(text)
