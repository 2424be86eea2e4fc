"""Images: what they are is told by decoding them, never by their name; small ones are enlarged.

What is shown holds the picture alone: upright, without places, cameras, names and whatever else a file carries along.
"""

import io
import warnings
from typing import Any

from PIL import Image, ImageOps

from plurivox.core.errors import InputError
from plurivox.web.store.collect.tasks import MediaFile

TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}  # no SVG: it can hold scripts
MOST_PIXELS = 50_000_000
MOST_BYTES = 20_000_000
ENDS = {"image/png": b"IEND\xaeB`\x82", "image/jpeg": b"\xff\xd9", "image/gif": b";"}
HARMLESS = {"jfif", "jfif_version", "jfif_unit", "jfif_density", "dpi", "icc_profile", "gamma", "srgb", "transparency"}
HARMLESS |= {"interlace", "adobe", "adobe_transform", "progressive", "progression", "background", "version", "duration"}
HARMLESS |= {"loop", "extension", "timestamp", "aspect", "chromaticity"}
KEPT = ("icc_profile", "transparency")  # without them the picture would look otherwise


def read_picture(data: bytes, name: str, pixels: int) -> MediaFile:
    """An image of one of a few kinds; one smaller than `pixels` is enlarged (Lanczos) to that."""
    if len(data) > MOST_BYTES:
        raise InputError(f"{name} has {len(data):,} bytes; an image may have {MOST_BYTES:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=list(TYPES)) as image:
                if image.width * image.height > MOST_PIXELS:
                    raise InputError(f"{name} has {image.width} x {image.height} pixels; that is too many")
                if getattr(image, "is_animated", False) and image.format != "MPO":
                    raise InputError(f"{name} moves; tasks show still images: save one of its frames")
                image.load()
                return _picture(data, image, pixels)
    except (
        OSError,
        ValueError,
        SyntaxError,
        EOFError,
        Image.DecompressionBombError,
        Image.DecompressionBombWarning,
    ) as cause:
        raise InputError(f"{name} is no image; known are {', '.join(TYPES)}") from cause


def _picture(data: bytes, image: Image.Image, pixels: int) -> MediaFile:
    kind = TYPES["JPEG" if image.format == "MPO" else str(image.format)]  # MPO: a JPEG of a phone, with more behind it
    upright = ImageOps.exif_transpose(image)
    longest = max(upright.size)
    if longest >= pixels:
        shown_type, shown = (kind, None) if _is_bare(data, kind, image) else _bare(data, kind, image, upright)
        return MediaFile(kind, data, shown_type, shown, upright.width, upright.height)
    image = upright
    if image.mode.startswith("I"):  # 16 bits: to 8, or all but the darkest would be white
        image = image.point(lambda value: value * (1 / 257)).convert("L")
    size = tuple(max(1, round(side * pixels / longest)) for side in image.size)
    plain = image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")
    large = plain.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    large.save(out, "PNG", optimize=True)
    return MediaFile(kind, data, "image/png", out.getvalue(), large.width, large.height)


def _is_bare(data: bytes, kind: str, image: Image.Image) -> bool:
    """Whether a file holds a picture and nothing else."""
    whole = len(data) <= int.from_bytes(data[4:8], "little") + 9  # as WebP says it
    ends = whole if kind == "image/webp" else data.endswith(ENDS[kind])
    return ends and image.format != "MPO" and set(image.info) <= HARMLESS and not image.getexif()


def _bare(data: bytes, kind: str, image: Image.Image, upright: Image.Image) -> tuple[str, bytes]:
    """The picture without what came along; its pixels stay as they are wherever the format allows."""
    turned = image.getexif().get(0x0112, 1) != 1
    picture = upright if turned else image
    picture.info = {name: value for name, value in picture.info.items() if name in KEPT}
    out, icc = io.BytesIO(), picture.info.get("icc_profile")
    if kind == "image/jpeg":
        exact = image.format == "JPEG" and not turned
        how: dict[str, Any] = {"quality": "keep"} if exact else {"quality": 95, "subsampling": 0}
        picture.save(out, "JPEG", icc_profile=icc, comment=b"", **how)
    elif kind == "image/webp":
        picture.save(out, "WEBP", icc_profile=icc, lossless=b"VP8L" in data[:64], quality=95)
    else:
        picture.save(out, "PNG", icc_profile=icc)
        kind = "image/png"
    return kind, out.getvalue()
