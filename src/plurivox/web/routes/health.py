"""Whether the server and its database answer."""

from fastapi import APIRouter

from plurivox.web.schemas import Health

router = APIRouter(tags=["health"])


@router.get("/health")
async def health() -> Health:
    raise NotImplementedError
