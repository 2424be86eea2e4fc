"""The pages themselves: `/join` and `/work` for workers, `/owner` for owners, `/api` for programmers, `/static`.

Pages hold no data; their scripts fetch it from `/api`. An invite link is BASE/join#invite=..., a personal link
BASE/join#link=...: what follows # stays in the browser and out of every log. Prolific's is BASE/join?PROLIFIC_PID=...
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, select_autoescape

from plurivox.web.api.assets import join_script, join_sheet
from plurivox.web.api.auth import StudioDep

router = APIRouter(include_in_schema=False)
HOME = Path(__file__).parents[2]  # plurivox/web
STATIC = HOME / "static"
KINDS = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
A_YEAR = "public, max-age=31536000, immutable"  # the address holds a digest of what is sent


@cache
def assets() -> dict[str, bytes]:
    """Every file under /static, in memory: the joined scripts and sheets, and the modules one by one."""
    css = STATIC / "css"
    made = {
        "work.js": join_script(STATIC / "js" / "work.js", [css / "base.css", css / "work.css"]),
        "owner.js": join_script(STATIC / "js" / "owner.js"),
        "house.js": join_script(STATIC / "js" / "house.js"),
        "api.js": join_script(STATIC / "js" / "api_page.js"),
        "owner.css": join_sheet([css / "base.css", css / "owner.css"]),
    }
    found = {str(path.relative_to(STATIC)): path.read_bytes() for path in STATIC.rglob("*.*") if path.suffix in KINDS}
    return found | {name: text.encode() for name, text in made.items()}


@cache
def version() -> str:
    """A digest of every file under /static."""
    return hashlib.sha256(b"".join(assets()[key] for key in sorted(assets()))).hexdigest()[:12]


@cache
def page(name: str, **about: str) -> str:
    """A page, with addresses that change when what they lead to changes."""
    templates = Environment(loader=FileSystemLoader(HOME / "templates"), autoescape=select_autoescape())
    return templates.get_template(name).render(version=version(), **about)


@router.get("/")
async def front(request: Request) -> RedirectResponse:
    return RedirectResponse(f"{request.scope['root_path']}/owner")


@router.get("/join/")
@router.get("/work/")
@router.get("/owner/")
@router.get("/api/")
async def tidy(request: Request) -> RedirectResponse:
    """The same without the last slash, from which the pages' own addresses would lead astray."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(request.scope["path"].rstrip("/") + query)


@router.get("/join")
@router.get("/work")
async def work() -> HTMLResponse:
    """Every page of a worker."""
    return HTMLResponse(page("work.html"))


@router.get("/owner")
async def owner(studio: StudioDep) -> HTMLResponse:
    """Every page of an owner."""
    return HTMLResponse(page("owner.html", house="../owner" if studio.settings.in_house else ""))


@router.get("/api")
async def api() -> HTMLResponse:
    """What the API can do, as a page."""
    return HTMLResponse(page("api.html"))


@cache
def packed(name: str) -> bytes:
    """A file under /static, made small once."""
    return gzip.compress(assets()[name], mtime=0)


@router.get("/static/{name:path}")
async def static(name: str, request: Request) -> Response:
    """A script, a sheet or an icon."""
    if name not in assets():
        raise HTTPException(404, "there is no such file")
    is_ours = request.query_params.get("v") == version()  # or of a newer server beside us: what we have is not that
    headers = {"Cache-Control": A_YEAR if is_ours else "no-cache", "Vary": "Accept-Encoding"}
    small = "gzip" in request.headers.get("accept-encoding", "")
    if small:
        headers["Content-Encoding"] = "gzip"
    return Response(packed(name) if small else assets()[name], media_type=KINDS[Path(name).suffix], headers=headers)
