"""The audit log: who did what and when."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from plurivox.web.store.database import current_unix_time
from plurivox.web.store.schema import audit


@dataclass(frozen=True)
class AuditLine:
    """One line of the audit log: who did what and when, with details."""

    at: float
    who: str
    what: str
    detail: dict[str, Any]


def append_to_audit_log(connection: Connection, who: str, action: str, **detail: Any) -> None:
    """Append a line to the audit log: `who` did `action`, with details as JSON."""
    connection.execute(insert(audit).values(at=current_unix_time(), who=who, what=action, detail=json.dumps(detail)))


def list_audit_lines(connection: Connection, max_lines: int = 500) -> list[AuditLine]:
    """Return the latest `max_lines` lines of the audit log, newest first."""
    rows = connection.execute(select(audit).order_by(audit.c.id.desc()).limit(max_lines))
    return [AuditLine(row.at, row.who, row.what, json.loads(row.detail)) for row in rows]
