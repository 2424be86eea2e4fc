"""Several studies on one server, each at /NAME/ with its own application, and a front page for all."""

from collections.abc import AsyncIterator, Mapping, MutableMapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, RedirectResponse

import plurivox
from plurivox.core.errors import InputError, first_few
from plurivox.web.api.routes import pages
from plurivox.web.api.worker_entry_and_stage_schemas import Health
from plurivox.web.server.app import add_error_handlers, create_app
from plurivox.web.server.middleware import Receive, SecurityMiddleware, Send, strip_prefix
from plurivox.web.server_settings import RESERVED_PATHS, Settings
from plurivox.web.store.study_state import get_study_state
from plurivox.web.study.config import STUDY, read_study
from plurivox.web.study.secret_key import StudySecret


class MultiStudyApp:
    """ASGI application that routes /NAME/... to the application of the study NAME, and other paths to the front page.

    Each study's application has its own database, secret and limits and gets only requests under its own address.
    """

    def __init__(self, front: FastAPI, studies: Mapping[str, FastAPI], prefix: str) -> None:
        self.front, self.studies, self.prefix = front, studies, prefix

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        app = self.front
        if scope["type"] == "http":
            path = strip_prefix(self.prefix, scope["path"])
            scope = {**scope, "path": self.prefix + path}
            app = self.studies.get(_first_path_segment(path), self.front)
        await app(scope, receive, send)


def _first_path_segment(path: str) -> str:
    """Return the first segment of a path: "pets" of "/pets/join"."""
    return path.partition("/")[2].partition("/")[0]


def create_multi_study_app(settings: Sequence[Settings]) -> MultiStudyApp:
    """Create the ASGI application of several studies, from the settings that `settings_with_own_base_url_per_study` returns."""
    with ExitStack() as opened:
        studies = {}
        for one in settings:
            app = create_app(one)
            opened.callback(app.state.studio.close)
            studies[one.base_url.rpartition("/")[2]] = app
        opened.pop_all()  # from now on, the lifespan closes them
    home = settings[0].model_copy(update={"base_url": settings[0].base_url.rpartition("/")[0]})
    return MultiStudyApp(_create_app_for_paths_outside_studies(home, studies), studies, home.path_prefix)


def _create_app_for_paths_outside_studies(settings: Settings, studies: Mapping[str, FastAPI]) -> FastAPI:
    """Create the FastAPI application for paths outside all studies: front page, health check, static files."""

    @asynccontextmanager
    async def run_study_lifespans(_: FastAPI) -> AsyncIterator[None]:
        """Start all studies when the server starts, and stop them when it stops."""
        async with AsyncExitStack() as stack:
            for app in studies.values():
                await stack.enter_async_context(app.router.lifespan_context(app))
            yield

    front = FastAPI(
        title="plurivox studio",
        version=plurivox.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=run_study_lifespans,
        redirect_slashes=False,
    )

    @front.get("/")
    @front.get("/owner/")
    async def redirect_to_owner_page(request: Request) -> RedirectResponse:
        return RedirectResponse(f"{request.scope['root_path']}/owner")

    @front.get("/owner")
    async def signed_in_studies_page() -> HTMLResponse:
        """Return the page that lists the studies this browser is signed in to."""
        return HTMLResponse(pages.render_page_html("studies.html"))

    @front.get("/health")
    async def check_health_of_every_database() -> Health:
        """Health check: read the database of every study; status 503 if one does not respond."""
        for app in studies.values():
            await app.state.studio.read(get_study_state)
        return Health(status="ok", study="", version=plurivox.__version__)

    front.get("/static/{name:path}")(pages.serve_static_file)
    add_error_handlers(front)
    front.add_middleware(SecurityMiddleware, settings=settings)
    return front


# ---- settings of the studies


def find_study_folders(folders_or_parents: Sequence[Path]) -> list[Path]:
    """Return each study folder, and for other folders the study folders inside; a folder without any is returned itself."""
    found: list[Path] = []
    for place in folders_or_parents:
        inner = [] if (place / STUDY).is_file() else sorted(file.parent for file in place.glob(f"*/{STUDY}"))
        found += inner or [place]
    return found


def database_url_by_study_folder(
    urls_or_name_equals_url: Sequence[str], folders: Sequence[Path], common_url: str = ""
) -> dict[Path, str]:
    """Return {study folder: database URL}, from NAME=URL, else a schema per study in `common_url` or the URL without a name."""
    names = {folder: read_study(folder).name for folder in folders}
    named: dict[str, str] = {}
    for one in urls_or_name_equals_url:
        name, equals, url = one.partition("=")
        if equals and "://" not in name:
            named[name] = url
        else:
            common_url = one
    if strange := sorted(set(named) - set(names.values())):
        raise InputError(
            f"--database names {first_few(strange)}, but the studies are {first_few(sorted(names.values()))}"
        )
    return {folder: named.get(name) or _add_study_schema_to_url(common_url, name) for folder, name in names.items()}


def _add_study_schema_to_url(database_url: str, study_name: str) -> str:
    """Return a database URL with the name of a study added as its schema; "" for an empty URL.

    >>> _add_study_schema_to_url("postgresql://host/db?sslmode=require", "pets")
    'postgresql://host/db?sslmode=require&schema=pets'
    """
    return f"{database_url}{'&' if '?' in database_url else '?'}schema={study_name}" if database_url else ""


def settings_with_own_base_url_per_study(settings: Sequence[Settings], base_url: str) -> list[Settings]:
    """Return settings with the address BASE_URL/NAME for each study; raise InputError if names, secrets or databases clash."""
    names = [read_study(one.folder).name for one in settings]
    # under https://x/pets, /pets/join would be ambiguous
    taken = {
        *RESERVED_PATHS,
        _first_path_segment(urlsplit(base_url).path),
    }
    for at, name in enumerate(names):
        if name in taken:
            where = first_few([str(one.folder) for one, other in zip(settings, names, strict=True) if other == name])
            why = (
                f"{where} have the same name, {base_url}/{name}"
                if names.count(name) > 1
                else f"the address /{name} is reserved"
            )
            raise InputError(f"{why}; change `name` in {settings[at].folder / STUDY}")
        taken.add(name)
    _check_no_study_is_a_copy(
        [one.folder for one in settings],
        [StudySecret.read_or_create_secret(one.folder).sign("compare", "") for one in settings],
    )
    _check_no_study_is_a_copy(
        [one.folder for one in settings],
        [f"{one.database_url_without_schema} {one.schema_name or 'public'}" for one in settings],
    )
    return [
        one.model_copy(update={"base_url": f"{base_url}/{name}", "multi_study": True})
        for one, name in zip(settings, names, strict=True)
    ]


def _check_no_study_is_a_copy(folders: Sequence[Path], secrets_or_databases: Sequence[str]) -> None:
    """Raise InputError if two study folders have the same secret key or database, because one is a copy of the other."""
    for text in secrets_or_databases:
        if secrets_or_databases.count(text) > 1:
            same = first_few(
                [str(folder) for folder, other in zip(folders, secrets_or_databases, strict=True) if other == text]
            )
            raise InputError(
                f"{same} have the same secret or database because one is a copy of the other; serve only one of them"
            )
