"""Images and sounds of tasks, by opaque id; their type was detected from their bytes when they were added."""

import re
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Header, Response

from plurivox.web.api.route_dependencies import StudioDep
from plurivox.web.api.schema_fields import Id
from plurivox.web.api.worker_entry_and_stage_schemas import ErrorResponse
from plurivox.web.store.collect.tasks_batches_quotas import get_displayed_media
from plurivox.web.store.random_ids import decode_id
from plurivox.web.study.audio_validation import SOUND_TYPES
from plurivox.web.study.image_preparation import IMAGE_TYPES

router = APIRouter(tags=["media"])
SHOWN: dict[str, Any] = {kind: {} for kind in (*IMAGE_TYPES.values(), *SOUND_TYPES)}
ERROR_RESPONSES: dict[int | str, dict[str, Any]] = {code: {"model": ErrorResponse} for code in (404, 422, 503)}
RANGE = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})")


@router.get(
    "/media/{media}",
    response_class=Response,
    responses={
        200: {"content": SHOWN},
        206: {"content": SHOWN, "description": "The requested byte range"},
        416: {"description": "The byte range is not satisfiable"},
        **ERROR_RESPONSES,
    },
)
async def get_task_media(
    media: Id, studio: StudioDep, range: Annotated[str | None, Header(max_length=200)] = None
) -> Response:
    """Return the image (small ones enlarged) or the sound of a task; a Range header returns a part of it."""
    found = await studio.read(partial(get_displayed_media, media_id=decode_id(media)))
    data, kind = found.bytes, found.type
    headers = {"Cache-Control": "private, max-age=31536000, immutable", "Accept-Ranges": "bytes"}
    part = parse_range_or_none_for_whole_file(range, len(data))
    if part is None:
        return Response(data, media_type=kind, headers=headers)
    begin, end = part
    if begin >= end:
        return Response(status_code=416, headers=headers | {"Content-Range": f"bytes */{len(data)}"})
    headers["Content-Range"] = f"bytes {begin}-{end - 1}/{len(data)}"
    return Response(data[begin:end], 206, media_type=kind, headers=headers)


def parse_range_or_none_for_whole_file(range_header: str | None, n_bytes: int) -> tuple[int, int] | None:
    """Return (begin, end) of the bytes that a Range header requests, begin >= end if out of range; None: send the whole file.

    >>> [parse_range_or_none_for_whole_file(header, 10) for header in ("bytes=2-4", "bytes=7-", "bytes=-3")]
    [(2, 5), (7, 10), (7, 10)]
    >>> parse_range_or_none_for_whole_file("bytes=12-", 10)
    (10, 10)
    >>> [parse_range_or_none_for_whole_file(header, 10) for header in ("bytes=0-1,4-5", "lines=1-2")]
    [None, None]
    """
    found = RANGE.fullmatch(range_header or "")
    if found is None or not any(found.groups()):
        return None  # unsupported ranges get the whole file
    first, last = found.groups()
    if not first:
        return max(0, n_bytes - int(last)), n_bytes
    if last and int(last) < int(first):
        return None
    return min(int(first), n_bytes), min(int(last) + 1 if last else n_bytes, n_bytes)
