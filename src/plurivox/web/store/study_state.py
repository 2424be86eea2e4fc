"""Read and change whether a study is open, paused or closed."""

from typing import Literal

from sqlalchemy import Connection

from plurivox.web.store.admin.audit_log import append_to_audit_log
from plurivox.web.store.errors import Conflict
from plurivox.web.store.key_value import kv_get, kv_set

StudyState = Literal["open", "paused", "closed"]
NOT_OPEN = {
    "paused": "This study does not accept answers at the moment. Please try again later.",
    "closed": "This study accepts no more answers.",
}


def get_study_state(connection: Connection) -> StudyState:
    """Return the state of the study: "open", "paused" or "closed"."""
    state: StudyState = kv_get(connection, "state") or "open"
    return state


def require_open_study(connection: Connection, message: str = "") -> None:
    """Raise Conflict, named by the state and with `message` or a default text, if the study is paused or closed."""
    state = get_study_state(connection)
    if state != "open":
        raise Conflict(state, message or NOT_OPEN[state])


def set_study_state(connection: Connection, audit_actor: str, state: StudyState) -> None:
    """Set the state of the study to open, paused or closed, and log the change in the audit log."""
    kv_set(connection, "state", state)
    append_to_audit_log(connection, audit_actor, "state", state=state)
