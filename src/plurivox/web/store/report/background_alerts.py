"""What goes wrong beside the requests, for owners: what, since when, and what to do; gone when it works again."""

import json
from dataclasses import dataclass

from sqlalchemy import Connection, select

from plurivox.web.store.database import now
from plurivox.web.store.key_value import kv_get, kv_set
from plurivox.web.store.schema import facts

RETRY_HINT = "It is tried again in every round. If it stays, the server's log says more; restart the server."
ADVICE = {
    "study": "Put study.toml right; it is read again in every round.",
    "aggregator": "Name another aggregator in study.toml, or none; soft labels follow in the next round.",
    "rules": f"Nobody is excluded meanwhile. {RETRY_HINT}",
    "labels": RETRY_HINT,
    "pay": f"plurivox studio pay computes the sheet by itself. {RETRY_HINT}",
    "background": RETRY_HINT,
    "database": "See whether the disk is full and whether the database runs. The server goes on by itself once it can, "
    "and answers that could not be taken stay in people's browsers until then.",
    "leader": "Restart the server. Answers are taken and kept all the same.",
}


@dataclass(frozen=True)
class Alert:
    """One thing that goes wrong."""

    of: str  # a name in TO_DO
    what: str
    since: float

    @property
    def to_do(self) -> str:
        return ADVICE[self.of]


def set_alert(connection: Connection, of: str, what: str) -> None:
    """Keep what is wrong with something, and since when; empty: it works. Each is a fact of its own: several may tell."""
    told = kv_get(connection, _key_of(of)) or {}
    if what != told.get("what", ""):
        kv_set(connection, _key_of(of), {"what": what, "since": now()} if what else None)


def list_alerts(connection: Connection) -> list[Alert]:
    """What is wrong now, the oldest first."""
    names = {_key_of(of): of for of in ADVICE}
    rows = connection.execute(select(facts).where(facts.c.name.in_(names))).all()
    found = [(names[row.name], told) for row in rows if (told := json.loads(row.value))]
    return sorted((Alert(of, one["what"], one["since"]) for of, one in found), key=lambda one: one.since)


def _key_of(of: str) -> str:
    return f"trouble: {of}"
