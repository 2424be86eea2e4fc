"""Photos in an SVG file, stored as JPEG: a fifth of the size that matplotlib's PNG would have."""

import base64
import io
from xml.etree import ElementTree

SVG = "http://www.w3.org/2000/svg"
LINK = "http://www.w3.org/1999/xlink"
PHOTO_ID = "photo"  # the ids of photos begin with this
QUALITY = 82


def store_photos_as_jpeg(root: ElementTree.Element) -> None:
    """Encode the images whose id begins with `photo` as JPEG, in place; programs may smooth them when they enlarge them."""
    from PIL import Image  # not at the top: the help of a chart needs no pillow

    for element in root.iter(f"{{{SVG}}}image"):
        link = element.get(f"{{{LINK}}}href", "")
        if not element.get("id", "").startswith(PHOTO_ID) or not link.startswith("data:image/png;base64,"):
            continue
        element.attrib.pop("style", None)  # asks for visible pixels
        picture = Image.open(io.BytesIO(base64.b64decode(link.partition(",")[2]))).convert("RGB")
        buffer = io.BytesIO()
        picture.save(buffer, "JPEG", quality=QUALITY, optimize=True)
        element.set(f"{{{LINK}}}href", f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode('ascii')}")
