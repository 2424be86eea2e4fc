"""Errors of the API: an HTTP status, an error code for programs and a message for people."""

import math
from dataclasses import dataclass
from typing import Any

from plurivox.web.store.errors import Conflict, Forbidden, Invalid, NotFound, NotSignedIn, StudyError, Unavailable


@dataclass(eq=False)
class ApiError(Exception):
    """A request failed and changed nothing; becomes the response with this status and body."""

    status: int
    error: str
    detail: str
    retry: bool = False
    more: dict[str, Any] | None = None

    def error_response_body(self) -> dict[str, Any]:
        """Return the JSON body of the error response: error code, detail, retry, and further fields."""
        return {"error": self.error, "detail": self.detail, "retry": self.retry, **(self.more or {})}


STATUS: dict[type[StudyError], int] = {
    NotSignedIn: 401,
    Forbidden: 403,
    NotFound: 404,
    Conflict: 409,
    Invalid: 422,
    Unavailable: 503,
}


def study_error_to_api_error(error: StudyError) -> ApiError:
    """Convert a StudyError of store or services to an ApiError with the HTTP status of its type."""
    status = next(STATUS[kind] for kind in type(error).__mro__ if kind in STATUS)
    return ApiError(status, error.code, error.detail, retry=isinstance(error, Unavailable))


def expired_token_error(days_unused: float) -> ApiError:
    """Return the 401 error of a worker's token that was not used for `days_unused` days."""
    detail = (
        f"your last visit was more than {days_unused:g} days ago. Open your personal link, or the link of your platform, "
        "to continue; answers that were not sent yet are kept in this browser and will be sent then"
    )
    return ApiError(401, "ended", detail)


def rate_limit_error(wait_seconds: float) -> ApiError:
    """Return the 429 error of a client that must wait `wait_seconds` seconds."""
    return ApiError(
        429,
        "too-many",
        "there were too many requests from here in a short time; please wait a moment and try again",
        retry=True,
        more={"wait": round(wait_seconds + 0.5)},
    )


def too_many_arrivals_error(wait_seconds: float) -> ApiError:
    """Return the 429 error of a new person from an address from which too many have come; a retry helps later only."""
    minutes = math.ceil(wait_seconds / 60)
    detail = (
        "Many people have entered this study from your network within the last hour. "
        f"Please open the link again in {minutes} minute{'s' * (minutes > 1)}."
    )
    return ApiError(429, "many-arrivals", detail, retry=True, more={"wait": round(wait_seconds + 0.5)})


def retry_after_header_if_retryable(cause: ApiError) -> dict[str, str]:
    """Return {"Retry-After": seconds} for an error response; {} if a retry cannot help."""
    if not cause.retry:
        return {}
    return {"Retry-After": str((cause.more or {}).get("wait", 2))}
