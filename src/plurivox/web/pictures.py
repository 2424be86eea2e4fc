"""Images: what they are is told by decoding them, never by their name; small ones are enlarged."""

import io
import warnings
from dataclasses import dataclass

from PIL import Image

from plurivox.core.errors import InputError

TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}  # no SVG: it can hold scripts
MOST_PIXELS = 50_000_000
MOST_BYTES = 20_000_000
Data = bytes


@dataclass(frozen=True)
class Picture:
    """An image as it came, and as it is shown."""

    type: str
    bytes: Data
    shown_type: str
    shown: Data | None  # None: as it came
    width: int
    height: int


def read_picture(data: bytes, name: str, pixels: int) -> Picture:
    """An image of one of a few kinds; one smaller than `pixels` is enlarged (Lanczos) to that."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has {len(data):,} bytes; an image may have {MOST_BYTES:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=list(TYPES)) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise InputError(f"{name} has {image.width} x {image.height} pixels; that is too many")
                image.load()
                return _picture(data, image, pixels)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError, Image.DecompressionBombWarning) as cause:
        raise InputError(f"{name} is no image; known are {', '.join(TYPES)}") from cause


def _picture(data: bytes, image: Image.Image, pixels: int) -> Picture:
    kind = TYPES[str(image.format)]
    longest = max(image.size)
    if longest >= pixels:
        return Picture(kind, data, kind, None, image.width, image.height)
    size = tuple(max(1, round(side * pixels / longest)) for side in image.size)
    plain = image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")
    large = plain.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    large.save(out, "PNG", optimize=True)
    return Picture(kind, data, "image/png", out.getvalue(), large.width, large.height)
