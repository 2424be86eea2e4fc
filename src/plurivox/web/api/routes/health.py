"""Whether the server and its database answer."""

from fastapi import APIRouter

import plurivox
from plurivox.web.api.auth import StudioDep
from plurivox.web.api.worker_schemas import Fault, Health
from plurivox.web.store.study_state import get_state

router = APIRouter(tags=["health"], responses={503: {"model": Fault}})


@router.get("/health")
async def health(studio: StudioDep) -> Health:
    """ok, or 503."""
    await studio.read(get_state)
    return Health(status="ok", study=studio.study.name, version=plurivox.__version__)
