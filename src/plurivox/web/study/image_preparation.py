"""Preparation of the image files of tasks: decode to check them, rotate upright, enlarge small ones, strip metadata.

The version that workers see is rotated upright and has no metadata such as location or camera.
"""

import io
import warnings
from typing import Any

from PIL import Image, ImageOps

from plurivox.core.errors import InputError
from plurivox.web.store.collect.tasks_batches_quotas import MediaFile

# no SVG: it can hold scripts
IMAGE_TYPES = {
    "PNG": "image/png",
    "JPEG": "image/jpeg",
    "GIF": "image/gif",
    "WEBP": "image/webp",
}
MAX_PIXELS = 50_000_000
MAX_BYTES = 20_000_000
LAST_BYTES = {"image/png": b"IEND\xaeB`\x82", "image/jpeg": b"\xff\xd9", "image/gif": b";"}
HARMLESS_INFO = {
    "jfif",
    "jfif_version",
    "jfif_unit",
    "jfif_density",
    "dpi",
    "icc_profile",
    "gamma",
    "srgb",
    "transparency",
}
HARMLESS_INFO |= {
    "interlace",
    "adobe",
    "adobe_transform",
    "progressive",
    "progression",
    "background",
    "version",
    "duration",
}
HARMLESS_INFO |= {"loop", "extension", "timestamp", "aspect", "chromaticity"}
KEPT_INFO = ("icc_profile", "transparency")  # without them the image would look different


def validate_image_and_make_displayed_version(data: bytes, name_for_message: str, min_longest_side: int) -> MediaFile:
    """Check an image file; return its bytes and the version shown: upright, without metadata, small ones enlarged."""
    if len(data) > MAX_BYTES:
        raise InputError(
            f"{name_for_message} is too large: its file has {len(data) / 1e6:.1f} MB, and an image can have at most "
            f"{MAX_BYTES / 1e6:.0f} MB; save it smaller"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=list(IMAGE_TYPES)) as image:
                if image.width * image.height > MAX_PIXELS:
                    raise _too_many_pixels(name_for_message, f" ({image.width:,} x {image.height:,})")
                if getattr(image, "is_animated", False) and image.format != "MPO":
                    raise InputError(f"{name_for_message} is animated; tasks show still images: save one of its frames")
                image.load()
                return _upright_enlarged_image_without_metadata(data, image, min_longest_side)
    except Image.DecompressionBombError as cause:  # Pillow does not even open images with so many pixels
        raise _too_many_pixels(name_for_message) from cause
    except (OSError, ValueError, SyntaxError, EOFError) as cause:
        raise InputError(f"{name_for_message} is not a supported image file; use {', '.join(IMAGE_TYPES)}") from cause


def _too_many_pixels(name_for_message: str, size: str = "") -> InputError:
    """Return the error of an image with more than `MAX_PIXELS` pixels."""
    return InputError(
        f"{name_for_message} has too many pixels{size}: an image can have at most {MAX_PIXELS / 1e6:.0f} million, such as "
        "8,000 x 6,000; save it smaller"
    )


def _upright_enlarged_image_without_metadata(data: bytes, image: Image.Image, min_longest_side: int) -> MediaFile:
    """Return the MediaFile of a decoded image: rotated upright by its EXIF data, enlarged if small, without metadata."""
    # MPO: a JPEG with further images appended
    kind = IMAGE_TYPES["JPEG" if image.format == "MPO" else str(image.format)]
    upright = ImageOps.exif_transpose(image)
    longest = max(upright.size)
    if longest >= min_longest_side:
        shown_type, shown = (
            (kind, None)
            if _has_no_metadata_or_trailing_data(data, kind, image)
            else _media_type_and_bytes_without_metadata(data, kind, image, upright)
        )
        return MediaFile(kind, data, shown_type, shown, upright.width, upright.height)
    image = upright
    if image.mode.startswith("I"):  # 16 bits to 8: convert() alone would clip
        image = image.point(lambda value: value * (1 / 257)).convert("L")
    size = tuple(max(1, round(side * min_longest_side / longest)) for side in image.size)
    plain = image.convert("RGBA" if "A" in image.getbands() or "transparency" in image.info else "RGB")
    large = plain.resize((size[0], size[1]), Image.Resampling.LANCZOS)
    out = io.BytesIO()
    large.save(out, "PNG", optimize=True)
    return MediaFile(kind, data, "image/png", out.getvalue(), large.width, large.height)


def _has_no_metadata_or_trailing_data(data: bytes, media_type: str, image: Image.Image) -> bool:
    """Return whether an image file has neither metadata (EXIF, comments) nor data after its end."""
    ends_after_riff = len(data) <= int.from_bytes(data[4:8], "little") + 9  # size in the RIFF header of WebP
    ends = ends_after_riff if media_type == "image/webp" else data.endswith(LAST_BYTES[media_type])
    return ends and image.format != "MPO" and set(image.info) <= HARMLESS_INFO and not image.getexif()


def _media_type_and_bytes_without_metadata(
    data: bytes, media_type: str, image: Image.Image, upright_image: Image.Image
) -> tuple[str, bytes]:
    """Return (media type, bytes) of an image encoded again without metadata; pixels are unchanged if the format allows."""
    turned = image.getexif().get(0x0112, 1) != 1
    picture = upright_image if turned else image
    picture.info = {name: value for name, value in picture.info.items() if name in KEPT_INFO}
    out, icc = io.BytesIO(), picture.info.get("icc_profile")
    if media_type == "image/jpeg":
        exact = image.format == "JPEG" and not turned
        how: dict[str, Any] = {"quality": "keep"} if exact else {"quality": 95, "subsampling": 0}
        picture.save(out, "JPEG", icc_profile=icc, comment=b"", **how)
    elif media_type == "image/webp":
        picture.save(out, "WEBP", icc_profile=icc, lossless=b"VP8L" in data[:64], quality=95)
    else:
        picture.save(out, "PNG", icc_profile=icc)
        media_type = "image/png"
    return media_type, out.getvalue()
