"""The health check: whether the server and its database respond."""

from fastapi import APIRouter

import plurivox
from plurivox.web.api.route_dependencies import StudioDep
from plurivox.web.api.worker_entry_and_stage_schemas import ErrorResponse, Health
from plurivox.web.store.study_state import get_study_state

router = APIRouter(tags=["health"], responses={503: {"model": ErrorResponse}})


@router.get("/health")
async def check_health(studio: StudioDep) -> Health:
    """Check that the server and its database respond; status 503 if the database does not."""
    await studio.read(get_study_state)
    return Health(status="ok", study=studio.study.name, version=plurivox.__version__)
