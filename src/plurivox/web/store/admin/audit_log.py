"""The audit log: who did what and when."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from plurivox.web.store.database import now
from plurivox.web.store.schema import audit


@dataclass(frozen=True)
class AuditLine:
    """One line of the audit log: who did what and when, with details."""

    at: float
    who: str
    what: str
    detail: dict[str, Any]


def log_audit(connection: Connection, who: str, what: str, **detail: Any) -> None:
    """Append a line to the audit log: `who` did `what`, with details as JSON."""
    connection.execute(insert(audit).values(at=now(), who=who, what=what, detail=json.dumps(detail)))


def list_audit_lines(connection: Connection, n: int = 500) -> list[AuditLine]:
    """Return the latest `n` lines of the audit log, newest first."""
    rows = connection.execute(select(audit).order_by(audit.c.id.desc()).limit(n))
    return [AuditLine(row.at, row.who, row.what, json.loads(row.detail)) for row in rows]
