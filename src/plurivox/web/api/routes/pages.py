"""HTML pages and static files: `/join` and `/work` for workers, `/owner` and `/owner-preview` for owners, `/api`, `/static`.

Pages contain no data; their scripts fetch it from `/api`. An invite link is BASE/join#invite=..., a personal link
BASE/join#link=...: what follows # is not sent to the server and not logged. Prolific's link is BASE/join?PROLIFIC_PID=...
"""

import gzip
import hashlib
from functools import cache
from pathlib import Path

from fastapi import APIRouter, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, select_autoescape

from plurivox.web.api.bundle_scripts_and_stylesheets import bundle_script, bundle_stylesheet
from plurivox.web.api.route_dependencies import StudioDep

router = APIRouter(include_in_schema=False)
HOME = Path(__file__).parents[2]  # plurivox/web
STATIC = HOME / "static"
CONTENT_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
CACHE_ONE_YEAR = "public, max-age=31536000, immutable"  # the address contains a digest of the files


@cache
def static_file_contents_by_name() -> dict[str, bytes]:
    """Return {name: content} of every file under /static: the bundled scripts and style sheets, and the single modules."""
    css = STATIC / "css"
    made = {
        "work.js": bundle_script(STATIC / "js" / "work_page.js", [css / "base.css", css / "work.css"]),
        "preview.js": bundle_script(
            STATIC / "js" / "preview_page.js", [css / "base.css", css / "work.css", css / "preview.css"]
        ),
        "owner.js": bundle_script(STATIC / "js" / "owner.js"),
        "studies.js": bundle_script(STATIC / "js" / "studies.js"),
        "api.js": bundle_script(STATIC / "js" / "api_page.js"),
        "owner.css": bundle_stylesheet([css / "base.css", css / "owner.css"]),
    }
    found = {
        str(path.relative_to(STATIC)): path.read_bytes() for path in STATIC.rglob("*.*") if path.suffix in CONTENT_TYPES
    }
    return found | {name: text.encode() for name, text in made.items()}


@cache
def static_files_hash() -> str:
    """Return a hash of all files under /static, which changes whenever one of them does."""
    return hashlib.sha256(
        b"".join(static_file_contents_by_name()[key] for key in sorted(static_file_contents_by_name()))
    ).hexdigest()[:12]


@cache
def render_page_html(template_name: str, **values: str) -> str:
    """Return the HTML of a page template; its addresses of static files contain the hash of these files."""
    templates = Environment(loader=FileSystemLoader(HOME / "templates"), autoescape=select_autoescape())
    return templates.get_template(template_name).render(version=static_files_hash(), **values)


@router.get("/")
async def redirect_to_owner_page(request: Request) -> RedirectResponse:
    """Redirect / to the owner's pages."""
    return RedirectResponse(f"{request.scope['root_path']}/owner")


@router.get("/join/")
@router.get("/work/")
@router.get("/owner/")
@router.get("/owner-preview/")
@router.get("/api/")
async def redirect_without_trailing_slash(request: Request) -> RedirectResponse:
    """Redirect to the address without the trailing slash: pages use relative addresses."""
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(request.scope["path"].rstrip("/") + query)


@router.get("/join")
@router.get("/work")
async def worker_page() -> HTMLResponse:
    """Return the HTML page of workers; its script shows the worker's current stage."""
    return HTMLResponse(render_page_html("work.html"))


@router.get("/owner")
async def owner_page(studio: StudioDep) -> HTMLResponse:
    """Return the HTML page of owners; its script shows the page named after # in the address."""
    return HTMLResponse(render_page_html("owner.html", studies="../owner" if studio.settings.multi_study else ""))


@router.get("/owner-preview")
async def owner_preview_page() -> HTMLResponse:
    """Return the HTML page on which an owner goes through the study as a worker; nothing is saved."""
    return HTMLResponse(render_page_html("preview.html"))


@router.get("/api")
async def api_docs_page() -> HTMLResponse:
    """Return the HTML page that documents the HTTP API."""
    return HTMLResponse(render_page_html("api.html"))


@cache
def cached_gzip_of_static_file(name: str) -> bytes:
    """Return a file under /static compressed by gzip; the result is cached."""
    return gzip.compress(static_file_contents_by_name()[name], mtime=0)


@router.get("/static/{name:path}")
async def serve_static_file(name: str, request: Request) -> Response:
    """Return a file under /static (script, style sheet or icon), compressed if the browser allows; 404 if there is none."""
    if name not in static_file_contents_by_name():
        raise HTTPException(404, "there is no such file; load the page again")
    is_current = request.query_params.get("v") == static_files_hash()  # false if the page came from another version
    headers = {"Cache-Control": CACHE_ONE_YEAR if is_current else "no-cache", "Vary": "Accept-Encoding"}
    small = "gzip" in request.headers.get("accept-encoding", "")
    if small:
        headers["Content-Encoding"] = "gzip"
    return Response(
        cached_gzip_of_static_file(name) if small else static_file_contents_by_name()[name],
        media_type=CONTENT_TYPES[Path(name).suffix],
        headers=headers,
    )
