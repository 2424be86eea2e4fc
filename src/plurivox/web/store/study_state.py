"""The state of a study: open, paused or closed."""

from sqlalchemy import Connection

from plurivox.web.api.worker_schemas import State
from plurivox.web.store.admin.audit_log import tell
from plurivox.web.store.errors import Conflict
from plurivox.web.store.kv import fact, set_fact
from plurivox.web.study.config import Study


def state_of(connection: Connection) -> State:
    """Whether the study is open, paused or closed."""
    state: State = fact(connection, "state") or "open"
    return state


def must_be_open(connection: Connection, study: Study) -> None:
    """Refuse where the study takes nobody new."""
    if state_of(connection) != "open":
        raise Conflict("closed", study.texts.closed or "this study takes no answers at the moment")


def change_state(connection: Connection, who: str, state: str) -> None:
    """Open, pause or close the study."""
    set_fact(connection, "state", state)
    tell(connection, who, "state", state=state)
