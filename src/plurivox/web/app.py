"""The application: routes, guards, and what they share."""

from fastapi import FastAPI

from plurivox.web.routes import annotate, health, media, owner, pages
from plurivox.web.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """The studio on one study."""
    app = FastAPI(title="plurivox studio", docs_url=None, redoc_url=None, openapi_url="/api/openapi.json")
    app.state.settings = settings
    for router in (annotate.router, owner.router, media.router, health.router, pages.router):
        app.include_router(router)
    return app
