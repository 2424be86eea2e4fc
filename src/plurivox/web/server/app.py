"""The application: routes, guards, and what they share."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, Response
from sqlalchemy.exc import InterfaceError, OperationalError, SQLAlchemyError
from starlette.exceptions import HTTPException

import plurivox
from plurivox.web.api.auth import Limits
from plurivox.web.api.http_errors import ApiError, http_error, retry_after
from plurivox.web.api.presenters import me_of
from plurivox.web.api.routes import annotation, health, media, owner_admin, owner_results, owner_session, pages
from plurivox.web.jobs.background_thread import BackgroundThread
from plurivox.web.server.middleware import Guard
from plurivox.web.services.worker_stages import WrongStage
from plurivox.web.settings import Settings
from plurivox.web.store.database import database_message
from plurivox.web.store.errors import StudyError, Unavailable
from plurivox.web.studio import Studio

log = logging.getLogger(__name__)
PLAIN = {"string_pattern_mismatch": "holds characters that it cannot have"}  # nobody reads a pattern
MOST_TOLD = 500  # characters about a request that is not as it should be; it may be long itself


def create_app(settings: Settings) -> FastAPI:
    """The studio on the study of one folder. The database is opened here, and let go when the application ends."""
    studio = Studio.open(settings)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        background = BackgroundThread(studio)
        background.start()
        try:
            yield
        finally:
            background.stop()
            studio.close()

    app = FastAPI(
        title="plurivox studio",
        version=plurivox.__version__,
        docs_url=None,  # theirs loads scripts from elsewhere; ours is among the pages
        redoc_url=None,
        openapi_url="/api/openapi.json",
        redirect_slashes=False,  # it would send people to whatever the Host header says
        lifespan=living,
    )
    app.state.studio, app.state.limits = studio, Limits.of(settings)
    for part in (annotation, owner_session, owner_results, owner_admin, media, health, pages):
        app.include_router(part.router)
    explain_faults(app)
    app.add_middleware(Guard, settings=settings, study=studio.study)
    return app


def explain_faults(app: FastAPI) -> None:
    """Every failure has the same body, and says nothing of what is inside."""

    @app.exception_handler(ApiError)
    async def refused(_: Request, cause: ApiError) -> JSONResponse:
        return _fault(cause)

    @app.exception_handler(StudyError)
    async def study_error(_: Request, cause: StudyError) -> JSONResponse:
        return _fault(http_error(cause))

    @app.exception_handler(WrongStage)
    async def wrong_stage(request: Request, cause: WrongStage) -> JSONResponse:
        me = me_of(request.app.state.studio.study, cause.current).model_dump(mode="json")
        return _fault(replace(http_error(cause), more={"me": me}))

    @app.exception_handler(RequestValidationError)
    async def invalid(_: Request, cause: RequestValidationError) -> JSONResponse:
        told = [f"{'.'.join(map(str, one['loc']))}: {PLAIN.get(one['type'], one['msg'])}" for one in cause.errors()[:3]]
        return _fault(ApiError(422, "invalid", "; ".join(told)[:MOST_TOLD]))

    @app.exception_handler(HTTPException)
    async def other(request: Request, cause: HTTPException) -> Response:
        if cause.status_code == 404 and "text/html" in request.headers.get("accept", ""):  # a person, not a program
            return HTMLResponse(pages.page("missing.html", root=f"{request.scope['root_path']}/"), 404)
        answer = _fault(ApiError(cause.status_code, "not-possible", str(cause.detail)))
        answer.headers.update(cause.headers or {})
        return answer

    @app.exception_handler(SQLAlchemyError)
    async def lost(_: Request, cause: SQLAlchemyError) -> JSONResponse:
        if isinstance(cause, OperationalError | InterfaceError):
            return _fault(http_error(Unavailable()))
        log.error(
            "the database refused what it was told: %s", database_message(cause)
        )  # the rest may hold people's ids
        return _fault(ApiError(500, "internal", "something went wrong here; it has been written down"))


def _fault(cause: ApiError) -> JSONResponse:
    body: dict[str, Any] = {name: value for name, value in cause.body().items() if name != "wait"}
    body["detail"] = cause.detail.encode("utf-8", "replace").decode()  # a request may hold halves of characters
    return JSONResponse(body, cause.status, headers=retry_after(cause))
