"""Query parameters and documented error responses that several routes share."""

from typing import Annotated, Any

from fastapi import Query

from plurivox.web.api.worker_schemas import Fault

FAULTS: dict[int | str, dict[str, Any]] = {code: {"model": Fault} for code in (401, 403, 404, 409, 422, 429, 503)}
After = Annotated[str | None, Query(max_length=64, pattern=r"^[A-Za-z0-9_.-]+$")]
Prefix = Annotated[str, Query(max_length=200, pattern=r"^[^\x00]*$")]
Limit = Annotated[int, Query(ge=1, le=500)]
