"""Create, list, use and close invitation links."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from plurivox.web.store.admin.audit_log import log_audit
from plurivox.web.store.database import now
from plurivox.web.store.errors import NotFound
from plurivox.web.store.random_ids import new_id
from plurivox.web.store.schema import invites

INVITE_COLUMNS = (invites.c.id, invites.c.note, invites.c.uses, invites.c.used, invites.c.is_open)


@dataclass(frozen=True)
class Invite:
    """An invitation link for `uses` people, of whom `used` have entered."""

    id: int
    note: str
    uses: int
    used: int
    is_open: bool


def create_invite(connection: Connection, who: str, note: str, uses: int) -> Invite:
    """Insert an invitation link for `uses` people, log it in the audit log, and return it."""
    made = Invite(new_id(), note, uses, used=0, is_open=True)
    connection.execute(insert(invites).values(id=made.id, note=note, uses=uses, used=0, is_open=1, born=now()))
    log_audit(connection, who, "invite", note=note, uses=uses)
    return made


def close_invite(connection: Connection, who: str, invite: int) -> Invite:
    """Close an invitation link, so that no one else can use it, and log that; raise NotFound if there is none."""
    this = update(invites).where(invites.c.id == invite).values(is_open=0).returning(*INVITE_COLUMNS)
    row = connection.execute(this).first()
    if row is None:
        raise NotFound("invite")
    log_audit(connection, who, "invite closed", note=row.note)
    return Invite(row.id, row.note, row.uses, row.used, is_open=False)


def use_invite(connection: Connection, invite: int) -> bool:
    """Count one more use of an invitation link; False if it is used up or closed."""
    this = update(invites).where(invites.c.id == invite, invites.c.is_open == 1, invites.c.used < invites.c.uses)
    return bool(connection.execute(this.values(used=invites.c.used + 1)).rowcount)


def list_invites(connection: Connection) -> list[Invite]:
    """Return the invitation links, newest first, at most 1000."""
    rows = connection.execute(select(*INVITE_COLUMNS).order_by(invites.c.born.desc()).limit(1000))
    return [Invite(row.id, row.note, row.uses, row.used, bool(row.is_open)) for row in rows]
