"""Key-value pairs of a study in the table `facts`, with JSON values."""

import json
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from plurivox.web.store.schema import facts

SELECT_VALUE = select(facts.c.value).where(facts.c.name == bindparam("name"))


def kv_set(connection: Connection, key: str, value: Any) -> None:
    """Write a JSON value under a key of the table `facts`, in place of the former value."""
    connection.execute(delete(facts).where(facts.c.name == key))
    connection.execute(insert(facts).values(name=key, value=json.dumps(value)))


def kv_get(connection: Connection, key: str) -> Any:
    """Return the value of a key of the table `facts`, parsed from JSON; None if the key does not exist."""
    text = connection.execute(SELECT_VALUE, {"name": key}).scalar()
    return None if text is None else json.loads(text)
