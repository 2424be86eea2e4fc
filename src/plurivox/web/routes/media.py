"""Images, by opaque id."""

from fastapi import APIRouter, Response

from plurivox.web.schemas import Id

router = APIRouter(tags=["media"])


@router.get("/media/{media}")
async def media(media: Id) -> Response:
    raise NotImplementedError
