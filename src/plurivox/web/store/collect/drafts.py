"""Drafts: the unfinished answer of a person, so that it is there on another device too. One each; it never counts."""

from sqlalchemy import Connection, bindparam, delete, insert, select, update

from plurivox.web.store.database import now
from plurivox.web.store.schema import drafts, slots

OPEN = select(slots.c.id).where(
    slots.c.id == bindparam("slot"), slots.c.worker_id == bindparam("worker"), slots.c.state == "leased"
)
MINE = select(drafts.c.slot_id, drafts.c.body).where(drafts.c.worker_id == bindparam("worker"))
THROW = delete(drafts).where(drafts.c.worker_id == bindparam("worker"))


def keep(connection: Connection, worker: int, slot: int, body: str) -> bool:
    """Put a draft in the place of the one before; False where its slot is answered or given back: it came too late."""
    if connection.execute(OPEN, {"slot": slot, "worker": worker}).first() is None:
        return False
    values = {"slot_id": slot, "at": now(), "body": body}
    if not connection.execute(update(drafts).where(drafts.c.worker_id == worker).values(values)).rowcount:
        connection.execute(insert(drafts).values(worker_id=worker, **values))
    return True


def of(connection: Connection, worker: int) -> tuple[int, str] | None:
    """The slot and the text of this person's draft."""
    row = connection.execute(MINE, {"worker": worker}).first()
    return None if row is None else (row.slot_id, row.body)
