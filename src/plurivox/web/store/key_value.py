"""Facts about a study as key and JSON value."""

import json
from typing import Any

from sqlalchemy import Connection, bindparam, delete, insert, select

from plurivox.web.store.schema import facts

SELECT_VALUE = select(facts.c.value).where(facts.c.name == bindparam("name"))


def kv_set(connection: Connection, name: str, value: Any) -> None:
    """Keep a fact about the study."""
    connection.execute(delete(facts).where(facts.c.name == name))
    connection.execute(insert(facts).values(name=name, value=json.dumps(value)))


def kv_get(connection: Connection, name: str) -> Any:
    """A fact about the study, kept as JSON; None where there is none."""
    text = connection.execute(SELECT_VALUE, {"name": name}).scalar()
    return None if text is None else json.loads(text)
