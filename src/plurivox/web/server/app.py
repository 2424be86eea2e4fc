"""The FastAPI application of one study: routes, error responses, middleware."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from starlette.exceptions import HTTPException

import plurivox
from plurivox.web.api.http_errors import ApiError, retry_after_header_if_retryable, study_error_to_api_error
from plurivox.web.api.response_builders import worker_state_response
from plurivox.web.api.route_dependencies import RateLimits
from plurivox.web.api.routes import (
    health,
    media,
    owner_admin,
    owner_login,
    owner_preview,
    owner_report,
    owner_results,
    pages,
    worker,
)
from plurivox.web.api.worker_entry_and_stage_schemas import PLAIN_SENTENCE
from plurivox.web.jobs.background_thread import BackgroundThread
from plurivox.web.open_study import Studio
from plurivox.web.server.middleware import INTERNAL_ERROR, SecurityMiddleware
from plurivox.web.server_settings import Settings
from plurivox.web.services.platform_admission import require_ids_of_platforms_off_or_with_ids
from plurivox.web.services.refused_sign_in_log import RefusedSignInLog
from plurivox.web.services.worker_stages import WrongStage
from plurivox.web.store.database import first_line_of_database_error
from plurivox.web.store.errors import StudyError, Unavailable

log = logging.getLogger(__name__)
PLAIN_MESSAGES = {  # by pydantic's error type; the regular expression of a pattern says nothing to people
    "string_pattern_mismatch": "contains characters that are not allowed",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "missing": "is missing",
    "extra_forbidden": "is not expected here",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
    "json_invalid": "is not valid JSON",
}
MAX_DETAIL_CHARS = 500  # of the message about an invalid request, which may quote the request


def create_app(settings: Settings) -> FastAPI:
    """Create the FastAPI application of the study in `settings.folder`. Opens the database, which is closed at shutdown."""
    studio = Studio.open_study(settings)
    studio.writer.submit(partial(require_ids_of_platforms_off_or_with_ids, study=studio.study)).result()
    refused_sign_ins = RefusedSignInLog(studio.writer.submit, settings.processes)

    @asynccontextmanager
    async def run_background_thread_then_close_database(_: FastAPI) -> AsyncIterator[None]:
        """Run the background thread while the server runs; then write what is counted in memory and close the database."""
        background = BackgroundThread(studio)
        background.start_thread_if_settings_allow()
        try:
            yield
        finally:
            refused_sign_ins.stop_timer()
            await refused_sign_ins.write_pending()
            background.stop_thread_and_child_process()
            studio.close()

    app = FastAPI(
        title="plurivox studio",
        version=plurivox.__version__,
        docs_url=None,  # FastAPI's page loads scripts from other hosts; ours is the page /api
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # it would redirect to the address in the Host header
        lifespan=run_background_thread_then_close_database,
    )
    app.state.studio, app.state.limits = studio, RateLimits.rate_limits_from_settings(settings)
    app.state.refused_sign_ins = refused_sign_ins
    owners = (owner_login, owner_results, owner_report, owner_admin, owner_preview)
    for part in (worker, *owners, media, health, pages):
        app.include_router(part.router)
    add_error_handlers(app)
    app.add_middleware(SecurityMiddleware, settings=settings, study=studio.study)
    return app


def add_error_handlers(app: FastAPI) -> None:
    """Register exception handlers on `app`: every error has the same body and reveals no internals."""

    @app.exception_handler(ApiError)
    async def respond_to_api_error(_: Request, cause: ApiError) -> JSONResponse:
        return _json_error_response(cause)

    @app.exception_handler(StudyError)
    async def respond_to_study_error(_: Request, cause: StudyError) -> JSONResponse:
        return _json_error_response(study_error_to_api_error(cause))

    @app.exception_handler(WrongStage)
    async def respond_to_wrong_stage_with_worker_state(request: Request, cause: WrongStage) -> JSONResponse:
        me = worker_state_response(request.app.state.studio.study, cause.current).model_dump(mode="json")
        return _json_error_response(replace(study_error_to_api_error(cause), more={"me": me}))

    @app.exception_handler(RequestValidationError)
    async def respond_to_invalid_request(_: Request, cause: RequestValidationError) -> JSONResponse:
        for one in cause.errors():
            if one["type"] == PLAIN_SENTENCE:
                return _json_error_response(ApiError(422, "incomplete-link", one["msg"]))
        errors = [plain_message_of_invalid_field(dict(one)) for one in cause.errors()[:3]]
        return _json_error_response(ApiError(422, "invalid", "; ".join(errors)[:MAX_DETAIL_CHARS]))

    @app.exception_handler(HTTPException)
    async def respond_to_http_exception(request: Request, cause: HTTPException) -> Response:
        if cause.status_code == 404 and "text/html" in request.headers.get("accept", ""):  # a browser
            return HTMLResponse(pages.render_page_html("not_found.html", root=f"{request.scope['root_path']}/"), 404)
        answer = _json_error_response(ApiError(cause.status_code, "not-possible", str(cause.detail)))
        answer.headers.update(cause.headers or {})
        return answer

    @app.exception_handler(SQLAlchemyError)
    async def respond_to_database_error(_: Request, cause: SQLAlchemyError) -> JSONResponse:
        if isinstance(cause, OperationalError | InterfaceError):
            return _json_error_response(study_error_to_api_error(Unavailable()))
        # further lines may contain people's ids
        log.error("the database rejected a statement: %s", first_line_of_database_error(cause))
        return _json_error_response(ApiError(500, "internal", INTERNAL_ERROR))


def plain_message_of_invalid_field(pydantic_error: dict[str, Any]) -> str:
    """Return a message about one field of a request from a pydantic error.

    >>> plain_message_of_invalid_field({"type": "string_too_short", "loc": ("body", "password"), "ctx": {"min_length": 10}})
    'password must have at least 10 characters'
    """
    place = ".".join(str(name) for name in pydantic_error["loc"] if name not in ("body", "query", "path"))
    kind, limits = pydantic_error["type"], pydantic_error.get("ctx", {})
    if kind in PLAIN_MESSAGES:
        return f"{'the request' if kind == 'json_invalid' else place} {PLAIN_MESSAGES[kind].format(**limits)}"
    return ": ".join(filter(None, [place, pydantic_error["msg"].removeprefix("Value error, ")]))


def _json_error_response(cause: ApiError) -> JSONResponse:
    """Return the JSON response to a request that failed with an ApiError."""
    body: dict[str, Any] = {name: value for name, value in cause.error_response_body().items() if name != "wait"}
    body["detail"] = cause.detail.encode("utf-8", "replace").decode()  # a request may contain lone surrogates
    return JSONResponse(body, cause.status, headers=retry_after_header_if_retryable(cause))
