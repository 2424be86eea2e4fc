"""Images and sounds, by opaque id; their type was told by reading them when they were added."""

import re
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from plurivox.web.api.auth import StudioDep
from plurivox.web.api.schema_fields import Id
from plurivox.web.api.worker_schemas import Fault
from plurivox.web.store.collect.tasks import get_media
from plurivox.web.store.random_ids import decode_id
from plurivox.web.study.task_audio import KINDS
from plurivox.web.study.task_images import TYPES

router = APIRouter(tags=["media"])
SHOWN: dict[str, Any] = {kind: {} for kind in (*TYPES.values(), *KINDS)}
FAULTS: dict[int | str, dict[str, Any]] = {code: {"model": Fault} for code in (404, 422, 503)}
RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")


@router.get(
    "/media/{media}",
    response_class=Response,
    responses={
        200: {"content": SHOWN},
        206: {"content": SHOWN, "description": "The part that was asked for"},
        416: {"description": "There is no such part"},
        **FAULTS,
    },
)
async def media(media: Id, studio: StudioDep, range: Annotated[str | None, Header(max_length=200)] = None) -> Response:
    """An image as it is shown, small ones enlarged; or a sound, of which a part may be asked for."""
    found = await studio.read(partial(get_media, medium=decode_id(media)))
    data, kind = found.bytes, found.type
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "Accept-Ranges": "bytes"}
    part = part_of(range, len(data))
    if part is None:
        return Response(data, media_type=kind, headers=headers)
    begin, end = part
    if begin >= end:
        return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
    return Response(data[begin:end], 206, media_type=kind, headers=headers)


def part_of(wanted: str | None, n: int) -> tuple[int, int] | None:
    """(begin, end) of the part that a Range header asks for, empty where there is none; None: all of it.

    >>> part_of("bytes=2-4", 10), part_of("bytes=7-", 10), part_of("bytes=-3", 10), part_of("bytes=12-", 10)
    ((2, 5), (7, 10), (7, 10), (10, 10))
    >>> part_of("bytes=0-1,4-5", 10), part_of("lines=1-2", 10)
    (None, None)
    """
    found = RANGE.fullmatch(wanted or "")
    if found is None or not any(found.groups()):
        return None  # what we do not understand is answered with the whole
    first, last = found.groups()
    if not first:
        return max(0, n - int(last)), n
    if last and int(last) < int(first):
        return None
    return min(int(first), n), min(int(last) + 1 if last else n, n)
