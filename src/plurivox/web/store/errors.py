"""Errors of the store and of what is built on it; `web/api/http_errors.py` gives each kind its HTTP status."""

from dataclasses import dataclass


@dataclass(eq=False)
class StudyError(Exception):
    """A request or a job cannot be done; nothing of it was. `code` is a word for programs, `detail` a line for people."""

    code: str
    detail: str


class NotFound(StudyError):
    """There is no such row."""

    def __init__(self, what: str) -> None:
        super().__init__("not-found", f"there is no such {what}")


class Invalid(StudyError):
    """The values that were sent contradict themselves or the study."""

    def __init__(self, detail: str) -> None:
        super().__init__("invalid", detail)


class InvalidCursor(Invalid):
    """A list does not have the place that was asked for."""

    def __init__(self) -> None:
        super().__init__("there is no such place in the list; begin at its first page")


class NotSignedIn(StudyError):
    """The session belongs to nobody in this study."""

    def __init__(self) -> None:
        super().__init__("unsigned", "open your personal link, or the link you were invited with")


class Forbidden(StudyError):
    """This person may not do that."""


class Withdrawn(Forbidden):
    """This person has withdrawn, and was erased."""

    def __init__(self) -> None:
        super().__init__("withdrawn", "you have withdrawn from this study; your answers are gone")


class Conflict(StudyError):
    """The state of the study, or an earlier request, stands against it."""


class Unavailable(StudyError):
    """The database is full or cannot be reached; the client keeps what it has and retries."""

    def __init__(self) -> None:
        detail = (
            "the database cannot be written at the moment; nothing is lost: keep your answer, it will be sent again"
        )
        super().__init__("unavailable", detail)
