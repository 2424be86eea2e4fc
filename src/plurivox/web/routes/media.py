"""Images, by opaque id; their type was told by decoding them when they were added."""

from typing import Any

from fastapi import APIRouter, Response
from sqlalchemy import Connection, select

from plurivox.web.doors import StudioDep
from plurivox.web.faults import not_found
from plurivox.web.keys import number_of
from plurivox.web.schemas import Fault, Id
from plurivox.web.store.tables import media as table

router = APIRouter(tags=["media"])
IMAGES: dict[str, Any] = {kind: {} for kind in ("image/png", "image/jpeg", "image/gif", "image/webp")}


@router.get(
    "/media/{media}",
    response_class=Response,
    responses={200: {"content": IMAGES}, 404: {"model": Fault}, 422: {"model": Fault}, 503: {"model": Fault}},
)
async def media(media: Id, studio: StudioDep) -> Response:
    """An image as it is shown: small ones are enlarged."""

    def find(connection: Connection) -> tuple[bytes, str]:
        wanted = select(table.c.shown_type, table.c.shown, table.c.bytes).where(table.c.id == number_of(media))
        row = connection.execute(wanted).first()
        if row is None:
            raise not_found("image")
        return row.bytes if row.shown is None else row.shown, row.shown_type

    data, kind = await studio.read(find)
    return Response(data, media_type=kind, headers={"Cache-Control": "private, max-age=31536000, immutable"})
