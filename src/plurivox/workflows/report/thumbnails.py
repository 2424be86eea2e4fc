"""Small JPEG files of the images of tasks, for the cards of a report."""

import io

from plurivox.core.task_contents import TaskContents

SIDE = 240  # pixels of the longer side; smaller images keep their size
QUALITY = 82  # of JPEG
SMALL_FILE = 6_000  # bytes of a file that is kept as it is


def small_image_file(contents: TaskContents, task: object) -> bytes | None:
    """Return the image of a task as a small JPEG file, or the file itself if it is small; None if it cannot be decoded."""
    from PIL import Image

    from plurivox.charts._shared.task_pictures import thumbnail

    encoded = contents.image_of(task)
    pixels = thumbnail(contents, task, SIDE) if encoded else None
    if encoded is None or pixels is None:
        return None
    if len(encoded) < SMALL_FILE and encoded[:4] in (b"\x89PNG", b"\xff\xd8\xff\xe0"):
        return encoded
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=QUALITY, optimize=True)
    return buffer.getvalue()
