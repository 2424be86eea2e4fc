"""The state of a study: open, paused or closed."""

from typing import Literal

from sqlalchemy import Connection

from plurivox.web.store.admin.audit_log import tell
from plurivox.web.store.errors import Conflict
from plurivox.web.store.facts import kv_get, kv_set

State = Literal["open", "paused", "closed"]


def state_of(connection: Connection) -> State:
    """Whether the study is open, paused or closed."""
    state: State = kv_get(connection, "state") or "open"
    return state


def must_be_open(connection: Connection, closed: str = "") -> None:
    """Raise Conflict, with the text `closed`, where the study takes nobody new."""
    if state_of(connection) != "open":
        raise Conflict("closed", closed or "this study takes no answers at the moment")


def change_state(connection: Connection, who: str, state: State) -> None:
    """Open, pause or close the study."""
    kv_set(connection, "state", state)
    tell(connection, who, "state", state=state)
