"""The audit log: who did what."""

import json
from typing import Any

from sqlalchemy import Connection, insert, select

from plurivox.web.store.database import now
from plurivox.web.store.schema import audit

# ---- what they do


def tell(connection: Connection, who: str, what: str, **detail: Any) -> None:
    """A line in the audit."""
    connection.execute(insert(audit).values(at=now(), who=who, what=what, detail=json.dumps(detail)))


def audit_lines(connection: Connection, n: int = 500) -> list[dict[str, Any]]:
    """The latest lines, newest first."""
    rows = connection.execute(select(audit).order_by(audit.c.id.desc()).limit(n))
    return [{"at": row.at, "who": row.who, "what": row.what, "detail": json.loads(row.detail)} for row in rows]
