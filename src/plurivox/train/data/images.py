"""Images: encoded pictures in, one array of pixels out."""

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

from plurivox.core.encoding import as_names
from plurivox.core.errors import InputError, first_few, require_package
from plurivox.core.npz import select_rows, write_arrays
from plurivox.core.types import Names

Picture = bytes | bytearray | memoryview | str | Path
UNNAMED = re.compile(r"<_io\.BytesIO object at \w+>")  # what Pillow calls bytes that have no name
log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Images:
    """Pixels of tasks, and the tasks whose picture could not be read."""

    tasks: Names  # (n,)
    x: NDArray[np.uint8]  # (n, 3, height, width)
    damaged: Names  # tasks that were skipped

    def on(self, tasks: Names) -> NDArray[np.uint8]:
        """(n, 3, height, width) the pixels of these tasks, in this order."""
        return select_rows(tasks, self.tasks, self.x, "image")


def decode(
    pictures: Iterable[Picture],
    tasks: Iterable[object],
    *,
    size: int | None = None,
    damaged: Literal["error", "skip"] = "error",
) -> Images:
    """The pixels of pictures, each given as the bytes of a file or as its path; row i is the picture of task i.

    They are brought to red, green and blue, and with `size` to a square of so many pixels (Lanczos); without it they
    must all have the same size. A picture that cannot be read is an error that names it, or is skipped and listed.
    """
    names, given = as_names(tasks, "tasks"), list(pictures)
    if len(given) != len(names):
        raise InputError(f"there are {len(given)} pictures, but {len(names)} tasks")
    pixels, why = [], {}
    for place, picture in enumerate(given):
        found = _pixels(picture, size)
        if isinstance(found, str):
            why[place] = found
        else:
            pixels.append(found)
    bad, good = np.array(sorted(why), np.intp), np.setdiff1d(np.arange(len(names)), list(why)).astype(np.intp)
    if why:
        words = f"{len(bad)} of {len(names)} pictures cannot be read: {first_few(names[bad])} ({why[int(bad[0])]})"
        if damaged == "error" or not len(good):
            raise InputError(f"{words}; mend them, or skip damaged ones: --skip-damaged (in Python damaged='skip')")
        log.warning("%s; they are skipped", words)
    return Images(names[good], _stacked(pixels, names[good]), names[bad])


def _pixels(picture: Picture, size: int | None) -> NDArray[np.uint8] | str:
    """(3, height, width) of one picture, or why there are none."""
    pillow: Any = require_package("PIL.Image", "reading pictures", "pip install 'plurivox[images]'")
    source = picture if isinstance(picture, str | Path) else io.BytesIO(picture)
    try:
        with pillow.open(source) as opened:
            image = opened.convert("RGB")
    # Pillow tells of a damaged picture in all these ways, depending on the format
    except (OSError, ValueError, SyntaxError, EOFError, IndexError, KeyError, TypeError) as cause:
        words = str(cause) if isinstance(picture, str | Path) else UNNAMED.sub("it", str(cause))
        return " ".join(words.split()) or type(cause).__name__
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as cause:
        return " ".join(str(cause).split())
    if size is not None and image.size != (size, size):
        image = image.resize((size, size), pillow.Resampling.LANCZOS)
    return np.ascontiguousarray(np.asarray(image, np.uint8).transpose(2, 0, 1))


def _stacked(pixels: list[NDArray[np.uint8]], tasks: Names) -> NDArray[np.uint8]:
    shapes = [one.shape for one in pixels]
    if other := [task for task, shape in zip(tasks, shapes, strict=True) if shape != shapes[0]]:
        first = " x ".join(map(str, shapes[0][1:]))
        raise InputError(f"pictures differ in size: {first_few(other)} are not {first} as the first one; give a size")
    return np.stack(pixels) if pixels else np.empty((0, 3, 0, 0), np.uint8)


def write_images(images: Images, path: str | Path) -> None:
    """Keep the pixels in an `.npz` of `x` and `task`, which training also reads as features."""
    names = {
        name: np.array(one.tolist(), np.str_) for name, one in (("task", images.tasks), ("damaged", images.damaged))
    }
    write_arrays(path, {"x": images.x, **names})


def read_images(path: str | Path) -> Images:
    """The pixels that `write_images` kept."""
    try:
        with Path(path).open("rb") as file:
            box = np.load(file, allow_pickle=False)
            x, tasks, damaged = (box[name] for name in ("x", "task", "damaged"))
    except FileNotFoundError:
        raise InputError(f"there is no file {path}") from None
    except (ValueError, OSError, EOFError, KeyError, IndexError, zipfile.BadZipFile) as cause:
        raise InputError(f"{path} is no .npz of images (write_images makes them), or it is damaged: {cause}") from cause
    if x.dtype != np.uint8 or x.ndim != 4 or x.shape[1] != 3 or len(x) != len(tasks):
        raise InputError(
            f"{path} holds x of the type {x.dtype} and shape {x.shape}; images are bytes (n, 3, height, width)"
        )
    return Images(as_names(tasks, "tasks"), x, as_names(damaged, "tasks"))
