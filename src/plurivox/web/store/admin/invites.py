"""Invitation links: create, list, close."""

from typing import Any

from sqlalchemy import Connection, insert, select, update

from plurivox.web.store.admin.audit_log import tell
from plurivox.web.store.database import now
from plurivox.web.store.errors import NotFound
from plurivox.web.store.ids import new_id
from plurivox.web.store.schema import invites


def make_invite(connection: Connection, who: str, note: str, uses: int) -> Any:
    """A new invite, for so many people."""
    row = {"id": new_id(), "note": note, "uses": uses, "used": 0, "is_open": 1, "born": now()}
    tell(connection, who, "invite", note=note, uses=uses)
    return connection.execute(insert(invites).values(row).returning(*invites.c)).one()


def close_invite(connection: Connection, who: str, invite: int) -> Any:
    """Nobody else comes in by it."""
    row = connection.execute(
        update(invites).where(invites.c.id == invite).values(is_open=0).returning(*invites.c)
    ).first()
    if row is None:
        raise NotFound("invite")
    tell(connection, who, "invite closed", note=row.note)
    return row


def all_invites(connection: Connection) -> list[Any]:
    """Newest first."""
    return list(connection.execute(select(invites).order_by(invites.c.born.desc()).limit(1000)))
