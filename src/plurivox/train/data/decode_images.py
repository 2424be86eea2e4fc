"""Images: decode picture files to one array of pixels; write and read such arrays as .npz."""

import io
import logging
import re
import zipfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Names
from plurivox.core.errors import InputError, first_few, require_package
from plurivox.core.name_encoding import as_names
from plurivox.core.npz_arrays_and_task_rows import select_rows_by_task, write_npz

Picture = bytes | bytearray | memoryview | str | Path
BYTES_REPR = re.compile(r"<_io\.BytesIO object at \w+>")  # in Pillow's messages about pictures given as bytes
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Images:
    """Pixels of the pictures of tasks, and the tasks whose picture could not be decoded."""

    tasks: Names  # (n,)
    x: NDArray[np.uint8]  # (n, 3, height, width)
    damaged: Names  # tasks that were skipped

    def on(self, tasks: Names) -> NDArray[np.uint8]:
        """(n, 3, height, width) the pixels of `tasks`, in this order; InputError if one is missing."""
        return select_rows_by_task(tasks, self.tasks, self.x, "image")


def decode(
    pictures: Iterable[Picture],
    tasks: Iterable[object],
    *,
    size: int | None = None,
    damaged: Literal["error", "skip"] = "error",
) -> Images:
    """Decode pictures, each given as the bytes of a file or as its path, to pixels; picture i is that of task i.

    They are converted to RGB and with `size` resized to a square of that many pixels (Lanczos); without it they must all have
    the same size. A picture that cannot be decoded is an InputError, or with damaged="skip" skipped and listed in `damaged`.
    """
    names, given = as_names(tasks, "tasks"), list(pictures)
    if len(given) != len(names):
        raise InputError(f"there are {len(given)} pictures, but {len(names)} tasks")
    pixels, reasons = [], {}
    for i, picture in enumerate(given):
        found = _decode_image_or_reason(picture, size)
        if isinstance(found, str):
            reasons[i] = found
        else:
            pixels.append(found)
    bad, good = np.array(sorted(reasons), np.intp), np.setdiff1d(np.arange(len(names)), list(reasons)).astype(np.intp)
    if reasons:
        message = (
            f"{len(bad)} of {len(names)} pictures cannot be read: {first_few(names[bad])} ({reasons[int(bad[0])]})"
        )
        if damaged == "error" or not len(good):
            raise InputError(f"{message}; repair them, or skip damaged ones: --skip-damaged (in Python damaged='skip')")
        log.warning("%s; they are skipped", message)
    return Images(names[good], _stack_images_of_equal_size(pixels, names[good]), names[bad])


def _decode_image_or_reason(picture: Picture, size: int | None) -> NDArray[np.uint8] | str:
    """Return the pixels (3, height, width) of a picture, or the reason as text if it cannot be decoded."""
    pillow: Any = require_package("PIL.Image", "reading pictures", "pip install 'plurivox[images]'")
    source = picture if isinstance(picture, str | Path) else io.BytesIO(picture)
    try:
        with pillow.open(source) as opened:
            image = opened.convert("RGB")
    # for a damaged picture Pillow raises any of these, depending on the format
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError) as cause:
        reason = str(cause) if isinstance(picture, str | Path) else BYTES_REPR.sub("it", str(cause))
        return " ".join(reason.split()) or type(cause).__name__
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as cause:
        return " ".join(str(cause).split())
    if size is not None and image.size != (size, size):
        image = image.resize((size, size), pillow.Resampling.LANCZOS)
    return np.ascontiguousarray(np.asarray(image, np.uint8).transpose(2, 0, 1))


def _stack_images_of_equal_size(pixels: list[NDArray[np.uint8]], tasks: Names) -> NDArray[np.uint8]:
    """(n, 3, height, width) the images as one array; InputError naming tasks if their sizes differ."""
    shapes = [one.shape for one in pixels]
    if other := [task for task, shape in zip(tasks, shapes, strict=True) if shape != shapes[0]]:
        first = " x ".join(map(str, shapes[0][1:]))
        raise InputError(f"pictures differ in size: {first_few(other)} are not {first} like the first one; give a size")
    return np.stack(pixels) if pixels else np.empty((0, 3, 0, 0), np.uint8)


def write_images(images: Images, path: str | Path) -> None:
    """Write pixels and tasks to an `.npz` with the arrays `x`, `task` and `damaged`, which training can also read."""
    names = {
        name: np.array(one.tolist(), np.str_) for name, one in (("task", images.tasks), ("damaged", images.damaged))
    }
    write_npz(path, {"x": images.x, **names})


def read_images(path: str | Path) -> Images:
    """Read the images that `write_images` wrote; InputError if the file is missing, damaged or another."""
    try:
        with Path(path).open("rb") as file:
            arrays = np.load(file, allow_pickle=False)
            x, tasks, damaged = (arrays[name] for name in ("x", "task", "damaged"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, KeyError, IndexError, zipfile.BadZipFile) as cause:
        raise InputError(
            f"{path} is not an .npz of images (made by write_images), or it is damaged: {cause}"
        ) from cause
    if x.dtype != np.uint8 or x.ndim != 4 or x.shape[1] != 3 or len(x) != len(tasks):
        raise InputError(
            f"{path} has an array x of type {x.dtype} and shape {x.shape}; images are bytes (n, 3, height, width)"
        )
    return Images(as_names(tasks, "tasks"), x, as_names(damaged, "tasks"))
