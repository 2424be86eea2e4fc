"""Several studies on one server: each at an address of its own, with nothing in common but the front door."""

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
from plurivox.web.api.worker_schemas import Health
from plurivox.web.server.app import create_app, explain_faults
from plurivox.web.server.middleware import Guard, Receive, Send, inside
from plurivox.web.settings import RESERVED_PATHS, Settings
from plurivox.web.store.study_state import get_state
from plurivox.web.study.config import STUDY, read_study
from plurivox.web.study.secrets import StudySecret


class MultiStudyApp:
    """An ASGI application that hands /NAME/... to the study NAME. What it does not know, the front door answers.

    A study's application has its own database, secret and limits, and is never asked for anything under another
    study's address: that nothing crosses over needs no rule that somebody could forget.
    """

    def __init__(self, front: FastAPI, studies: Mapping[str, FastAPI], prefix: str) -> None:
        self.front, self.studies, self.prefix = front, studies, prefix

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        app = self.front
        if scope["type"] == "http":
            path = inside(self.prefix, scope["path"])
            scope = {**scope, "path": self.prefix + path}
            app = self.studies.get(_first(path), self.front)
        await app(scope, receive, send)


def _first(path: str) -> str:
    return path.partition("/")[2].partition("/")[0]


def create_house(settings: Sequence[Settings]) -> MultiStudyApp:
    """The house of studies whose settings `lodge` made."""
    with ExitStack() as opened:
        studies = {}
        for one in settings:
            app = create_app(one)
            opened.callback(app.state.studio.close)
            studies[one.base_url.rpartition("/")[2]] = app
        opened.pop_all()  # from now on they end with the house
    home = settings[0].model_copy(update={"base_url": settings[0].base_url.rpartition("/")[0]})
    return MultiStudyApp(_front_door(home, studies), studies, home.prefix)


def _front_door(settings: Settings, studies: Mapping[str, FastAPI]) -> FastAPI:
    """What stands outside all studies. It names none of them: strangers learn nothing here."""

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as all_of_them:
            for app in studies.values():
                await all_of_them.enter_async_context(app.router.lifespan_context(app))
            yield

    front = FastAPI(
        title="plurivox studio",
        version=plurivox.__version__,
        docs_url=None,
        redoc_url=None,
        openapi_url=None,
        lifespan=living,
        redirect_slashes=False,
    )

    @front.get("/")
    @front.get("/owner/")
    async def first(request: Request) -> RedirectResponse:
        return RedirectResponse(f"{request.scope['root_path']}/owner")

    @front.get("/owner")
    async def overview() -> HTMLResponse:
        """The studies in which this browser is signed in: it alone knows them."""
        return HTMLResponse(pages.page("house.html"))

    @front.get("/health")
    async def health() -> Health:
        """ok, or 503 where one database does not answer."""
        for app in studies.values():
            await app.state.studio.read(get_state)
        return Health(status="ok", study="", version=plurivox.__version__)

    front.get("/static/{name:path}")(pages.static)
    explain_faults(front)
    front.add_middleware(Guard, settings=settings)
    return front


# ---- who lives there


def find_studies(places: Sequence[Path]) -> list[Path]:
    """The folders of studies: named one by one, or all those inside a folder that is no study itself."""
    found: list[Path] = []
    for place in places:
        inner = [] if (place / STUDY).is_file() else sorted(file.parent for file in place.glob(f"*/{STUDY}"))
        found += inner or [place]
    return found


def databases_of(given: Sequence[str], folders: Sequence[Path], for_all: str = "") -> dict[Path, str]:
    """The database of every study: NAME=URL where there is one, else a schema of its own in the one for all."""
    names = {folder: read_study(folder).name for folder in folders}
    named: dict[str, str] = {}
    for one in given:
        name, equals, url = one.partition("=")
        if equals and "://" not in name:
            named[name] = url
        else:
            for_all = one
    if strange := sorted(set(named) - set(names.values())):
        raise InputError(
            f"--database names {first_few(strange)}, but the studies are {first_few(sorted(names.values()))}"
        )
    return {folder: named.get(name) or _own_schema(for_all, name) for folder, name in names.items()}


def _own_schema(url: str, name: str) -> str:
    """
    >>> _own_schema("postgresql://host/db?sslmode=require", "pets")
    'postgresql://host/db?sslmode=require&schema=pets'
    """
    return f"{url}{'&' if '?' in url else '?'}schema={name}" if url else ""


def lodge(settings: Sequence[Settings], base_url: str) -> list[Settings]:
    """Settings of several studies, each with its own address under one; studies that cannot live together are refused."""
    names = [read_study(one.folder).name for one in settings]
    taken = {*RESERVED_PATHS, _first(urlsplit(base_url).path)}  # of /pets/join nobody could tell which pets it means
    for at, name in enumerate(names):
        if name in taken:
            where = first_few([str(one.folder) for one, other in zip(settings, names, strict=True) if other == name])
            why = f"{where} cannot all be at {base_url}/{name}" if names.count(name) > 1 else f"/{name} is taken"
            raise InputError(f"{why}; give {settings[at].folder} another name in its {STUDY}")
        taken.add(name)
    _must_differ([one.folder for one in settings], [StudySecret.of(one.folder).sign("house", "") for one in settings])
    _must_differ(
        [one.folder for one in settings], [f"{one.database_url} {one.schema_name or 'public'}" for one in settings]
    )
    return [
        one.model_copy(update={"base_url": f"{base_url}/{name}", "in_house": True})
        for one, name in zip(settings, names, strict=True)
    ]


def _must_differ(folders: Sequence[Path], what: Sequence[str]) -> None:
    """A copy beside its original: their tokens and answers would be mistaken for each other's."""
    for text in what:
        if what.count(text) > 1:
            same = first_few([str(folder) for folder, other in zip(folders, what, strict=True) if other == text])
            raise InputError(f"{same} have one secret or one database: one is a copy of the other; serve one of them")
