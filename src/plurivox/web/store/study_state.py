"""Read and change the state of a study: open, paused or closed."""

from typing import Literal

from sqlalchemy import Connection

from plurivox.web.store.admin.audit_log import log_audit
from plurivox.web.store.errors import Conflict
from plurivox.web.store.key_value import kv_get, kv_set

StudyState = Literal["open", "paused", "closed"]


def get_state(connection: Connection) -> StudyState:
    """Return the state of the study: "open", "paused" or "closed"."""
    state: StudyState = kv_get(connection, "state") or "open"
    return state


def require_open(connection: Connection, closed: str = "") -> None:
    """Raise Conflict, with the text `closed`, if the study is not open."""
    if get_state(connection) != "open":
        raise Conflict("closed", closed or "this study does not accept answers at the moment")


def set_state(connection: Connection, who: str, state: StudyState) -> None:
    """Open, pause or close the study, and log it in the audit log."""
    kv_set(connection, "state", state)
    log_audit(connection, who, "state", state=state)
