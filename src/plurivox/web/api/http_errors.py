"""Errors of the API: a status, a word for programs, a line for people."""

from dataclasses import dataclass
from typing import Any

from plurivox.web.store.errors import Conflict, Forbidden, Invalid, NotFound, NotSignedIn, StudyError, Unavailable


@dataclass(eq=False)
class ApiError(Exception):
    """The request cannot be done; nothing of it was."""

    status: int
    error: str
    detail: str
    retry: bool = False
    more: dict[str, Any] | None = None

    def body(self) -> dict[str, Any]:
        """The body of the response, a `worker_schemas.Fault`."""
        return {"error": self.error, "detail": self.detail, "retry": self.retry, **(self.more or {})}


STATUS: dict[type[StudyError], int] = {
    NotSignedIn: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Invalid: 422,
    Unavailable: 503,
}


def http_error(cause: StudyError) -> ApiError:
    """An error of the store with its HTTP status."""
    status = next(STATUS[kind] for kind in type(cause).__mro__ if kind in STATUS)
    return ApiError(status, cause.code, cause.detail, retry=isinstance(cause, Unavailable))


def ended(days: float) -> ApiError:
    detail = (
        f"you were last here more than {days:g} days ago. Open your personal link, or the platform's link, to go on; "
        "what was not sent yet is kept in this browser and is sent then"
    )
    return ApiError(401, "ended", detail)


def too_many(wait: float) -> ApiError:
    return ApiError(429, "too-many", "too many requests; wait a moment", retry=True, more={"wait": round(wait + 0.5)})


def retry_after(cause: ApiError) -> dict[str, str]:
    """When to come again."""
    if not cause.retry:
        return {}
    return {"Retry-After": str((cause.more or {}).get("wait", 2))}
