"""The lease of the leader: one of several servers computes and looks after the study, and another follows when it is silent."""

from sqlalchemy import Connection, insert, select, update

from plurivox.web.store.database import now
from plurivox.web.store.schema import leaders

LEASE = 30.0  # seconds a leader may be silent before another takes over


def lead(connection: Connection, holder: str, seconds: float = LEASE) -> bool:
    """Become the leader, or stay it; False where another one is."""
    mine = (leaders.c.holder == holder) | (leaders.c.until < now())
    values = {"holder": holder, "until": now() + seconds}
    if connection.execute(update(leaders).where(leaders.c.name == "studio", mine).values(values)).rowcount:
        return True
    if connection.execute(select(leaders.c.name)).first() is not None:
        return False
    connection.execute(insert(leaders).values(name="studio", **values))  # two at once: the key lets one in
    return True


def lease_end(connection: Connection) -> float | None:
    """When the lease of the last leader ends or ended; None where no server has led yet."""
    return connection.execute(select(leaders.c.until)).scalar()
