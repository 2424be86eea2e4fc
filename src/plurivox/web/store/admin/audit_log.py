"""The audit log: who did what and when, with sign-ins and refused sign-ins of owners."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, select

from plurivox.web.store.database import current_unix_time
from plurivox.web.store.schema import audit

SIGN_IN, SIGN_OUT, REFUSED = "sign-in", "sign-out", "sign-in refused"
REFUSED_SECONDS = 90 * 86400.0  # lines about refused sign-ins are deleted after so long
# stands for a name that no owner has: it may be a password typed into the wrong field, so it is not stored
UNKNOWN_NAME = "an unknown name"
WhyRefused = Literal[
    "wrong password", "unknown name", "wrong setup link", "too many attempts", "busy server", "several reasons"
]


@dataclass(frozen=True)
class SignInOrigin:
    """Who signs in or tries to: an owner's name or UNKNOWN_NAME, network, whether the owner has used the address before."""

    name: str
    network: str  # shortened address, such as 203.0.113.0/24
    known_address: bool = False


@dataclass(frozen=True)
class RefusedSignIns:
    """Refused sign-ins with the same name, network and reason, as one line of the audit log."""

    origin: SignInOrigin
    why: WhyRefused
    times: int
    first: float  # unix time of the first
    last: float
    others: tuple[int, int] | None = None  # number of names and of networks, if the line stands for several


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


def append_sign_in(connection: Connection, origin: SignInOrigin) -> None:
    """Append to the audit log that an owner signed in, from which network, and whether from a known address."""
    append_to_audit_log(connection, origin.name, SIGN_IN, network=origin.network, known=origin.known_address)


def append_refused_sign_ins(connection: Connection, lines: Sequence[RefusedSignIns]) -> None:
    """Append lines about refused sign-ins to the audit log, each at the time of its last attempt."""
    for line in lines:
        detail = {"why": line.why, "times": line.times, "since": line.first, "network": line.origin.network}
        detail |= {"known": line.origin.known_address}
        if line.others:
            detail |= {"names": line.others[0], "networks": line.others[1]}
        connection.execute(
            insert(audit).values(at=line.last, who=line.origin.name, what=REFUSED, detail=json.dumps(detail))
        )


def delete_old_refused_sign_ins(connection: Connection) -> None:
    """Delete lines about refused sign-ins older than 90 days; they contain the networks of strangers."""
    old = (audit.c.what == REFUSED) & (audit.c.at < current_unix_time() - REFUSED_SECONDS)
    connection.execute(delete(audit).where(old))


def list_audit_lines(connection: Connection, max_lines: int = 500, max_refused: int = 200) -> list[AuditLine]:
    """Return the latest lines of the audit log, newest first: at most `max_refused` about refused sign-ins.

    The two kinds are counted separately, so that many refused sign-ins do not displace the actions of owners.
    """
    latest = select(audit).order_by(audit.c.id.desc())
    actions = connection.execute(latest.where(audit.c.what != REFUSED).limit(max_lines)).all()
    refused = connection.execute(latest.where(audit.c.what == REFUSED).limit(max_refused)).all()
    rows = sorted([*actions, *refused], key=lambda row: row.at, reverse=True)
    return [AuditLine(row.at, row.who, row.what, json.loads(row.detail)) for row in rows]
