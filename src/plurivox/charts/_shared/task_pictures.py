"""What a task shows, drawn in axes: its image as a thumbnail, or its text, or a remark that it has neither."""

import io
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.charts._shared.hover_text import name_photo
from plurivox.charts._shared.panels import hide_axes, write_in_place_of_data
from plurivox.core.task_contents import TaskContents

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from PIL import Image

PIXELS = 600_000  # of all images of a figure together, which bounds the size of its file
LARGEST_SIDE = 280  # pixels


def pixels_per_side(n_images: int) -> int:
    """Return the side of a thumbnail in pixels if a figure has this many."""
    return min(LARGEST_SIDE, int(np.sqrt(PIXELS / max(n_images, 1))))


def tasks_with_contents(contents: TaskContents | None, tasks: Iterable[object]) -> list[str]:
    """Return those of the tasks that have a text or an image."""
    if contents is None:
        return []
    return [str(task) for task in tasks if str(task) in contents.images or str(task) in contents.texts]


def draw_task(ax: "Axes", contents: TaskContents | None, task: object, side: int, fontsize: float = 8) -> None:
    """Draw the image of a task, at most `side` pixels wide and high, or its text, wrapped and cut, in axes without frame."""
    from plurivox.charts._shared.wrapped_text import write_in_axes  # needs matplotlib

    if contents is not None and str(task) in contents.images:
        picture = thumbnail(contents, task, side)
        if picture is not None:
            image = ax.imshow(picture, interpolation="none")
            name_photo(image, str(task))
            hide_axes(ax)
            return
    text = None if contents is None else contents.text_of(task)
    if text is not None and text.strip():
        write_in_axes(ax, text, fontsize=fontsize)
        return
    has_image = contents is not None and str(task) in contents.images
    write_in_place_of_data(ax, "image cannot be read" if has_image else "no image or text")


def thumbnail(contents: TaskContents, task: object, side: int) -> NDArray[np.uint8] | None:
    """Return (height, width, 3) pixels of a task's image, the longer side `side` long; None if it cannot be decoded."""
    from PIL import Image  # not at the top: the help of a chart needs no pillow

    try:
        encoded = contents.image_of(task)
        if not encoded:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            return np.asarray(_small_rgb_image(encoded, side))
    except (OSError, ValueError, SyntaxError, EOFError, Image.DecompressionBombError, Image.DecompressionBombWarning):
        return None  # a damaged file, which the caller shows as such


def _small_rgb_image(encoded: bytes, side: int) -> "Image.Image":
    """Return a decoded image scaled to `side` pixels, with white behind transparent parts."""
    from PIL import Image, ImageOps

    with Image.open(io.BytesIO(encoded)) as found:
        found.draft("RGB", (2 * side, 2 * side))  # a JPEG file is decoded at a fraction of its size
        upright: Any = ImageOps.exif_transpose(found)
        if upright.has_transparency_data:
            upright = upright.convert("RGBA")
            white = Image.new("RGBA", upright.size, "white")
            upright = Image.alpha_composite(white, upright)
        rgb: Image.Image = upright.convert("RGB")
    scale = side / max(rgb.size)
    return rgb.resize((max(1, round(rgb.width * scale)), max(1, round(rgb.height * scale))), Image.Resampling.BICUBIC)
