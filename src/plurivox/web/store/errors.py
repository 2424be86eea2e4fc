"""Errors of the store, the services and the jobs; `web/api/http_errors.py` maps each class to an HTTP status."""

from collections.abc import Callable
from dataclasses import dataclass

from sqlalchemy import Connection


@dataclass(eq=False)
class StudyError(Exception):
    """A request or job failed and changed nothing. `code` is for programs, `detail` is a line for people."""

    code: str
    detail: str


class NotFound(StudyError):
    """The requested row (worker, task, slot, ...) does not exist in the database."""

    def __init__(self, what: str) -> None:
        super().__init__("not-found", f"there is no such {what}")


class Invalid(StudyError):
    """The values of a request contradict each other or the study's configuration."""

    def __init__(self, detail: str) -> None:
        super().__init__("invalid", detail)


class InvalidCursor(Invalid):
    """The cursor of a list (where its next page begins) is not valid."""

    def __init__(self) -> None:
        super().__init__("this page of the list does not exist; start again at the first page")


class NotSignedIn(StudyError):
    """The token belongs to no worker of this study."""

    def __init__(self) -> None:
        super().__init__("unsigned", "open your personal link, or the link you were invited with")


class Forbidden(StudyError):
    """The sender of a request is not allowed to perform the requested action."""


class Withdrawn(Forbidden):
    """The worker has withdrawn consent and was erased."""

    def __init__(self) -> None:
        super().__init__("withdrawn", "you have withdrawn from this study; your answers were deleted")


class Conflict(StudyError):
    """The request conflicts with the state of the study or with an earlier request."""


class Unavailable(StudyError):
    """The database is full or cannot be reached; the client keeps its data and retries."""

    def __init__(self) -> None:
        detail = "the study cannot store anything at the moment; nothing is lost: the page keeps your answer and sends it again"
        super().__init__("unavailable", detail)


class LockHeldElsewhere(Exception):
    """A write needs a lock that another server holds, and may hold rows that the other one waits for: the writer rolls it back
    and runs it again in a transaction that first waits for the lock with `wait_for_lock`. No request sees this error."""

    def __init__(self, wait_for_lock: Callable[[Connection], None]) -> None:
        super().__init__("another server holds the lock")
        self.wait_for_lock = wait_for_lock
