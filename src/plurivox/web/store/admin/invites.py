"""Create, list, use and close invitation links."""

from dataclasses import dataclass

from sqlalchemy import Connection, insert, select, update

from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.database import current_unix_time
from plurivox.web.store.errors import NotFound
from plurivox.web.store.random_ids import random_62_bit_id
from plurivox.web.store.schema import invites

INVITE_COLUMNS = (invites.c.id, invites.c.note, invites.c.uses, invites.c.used, invites.c.is_open)


@dataclass(frozen=True)
class Invite:
    """An invitation link to a study: its note, how many people may use it and have used it, and whether it is open."""

    id: int
    note: str
    uses: int
    used: int
    is_open: bool


def create_invite(connection: Connection, audit_actor: str, note: str, max_people: int) -> Invite:
    """Insert an invitation link with which `max_people` people may enter, log it in the audit log, and return it."""
    made = Invite(random_62_bit_id(), note, max_people, used=0, is_open=True)
    connection.execute(
        insert(invites).values(id=made.id, note=note, uses=max_people, used=0, is_open=1, born=current_unix_time())
    )
    append_to_audit_log(connection, audit_actor, "invite", note=note, uses=max_people)
    return made


def close_and_return_invite(connection: Connection, audit_actor: str, invite_id: int) -> Invite:
    """Close an invitation link for further people and log that in the audit log; raise NotFound if no link has this id."""
    this = update(invites).where(invites.c.id == invite_id).values(is_open=0).returning(*INVITE_COLUMNS)
    row = connection.execute(this).first()
    if row is None:
        raise NotFound("invite")
    append_to_audit_log(connection, audit_actor, "invite closed", note=row.note)
    return Invite(row.id, row.note, row.uses, row.used, is_open=False)


def increment_invite_uses_unless_closed_or_full(connection: Connection, invite_id: int) -> bool:
    """Count one more use of an invitation link and return True; return False if the link is used up or closed."""
    this = update(invites).where(invites.c.id == invite_id, invites.c.is_open == 1, invites.c.used < invites.c.uses)
    return bool(connection.execute(this.values(used=invites.c.used + 1)).rowcount)


def list_newest_invites(connection: Connection) -> list[Invite]:
    """Return the invitation links, newest first, at most 1000."""
    rows = connection.execute(select(*INVITE_COLUMNS).order_by(invites.c.born.desc()).limit(1000))
    return [Invite(row.id, row.note, row.uses, row.used, bool(row.is_open)) for row in rows]
