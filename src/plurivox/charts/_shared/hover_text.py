"""Texts shown when the pointer is over a mark of a chart in an SVG file: `name_marks` attaches them, `svg_text` writes them."""

import io
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.svg_photos import PHOTO_ID, store_photos_as_jpeg

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

SVG = "http://www.w3.org/2000/svg"
LINK = "http://www.w3.org/1999/xlink"
ElementTree.register_namespace("", SVG)
ElementTree.register_namespace("xlink", LINK)
MARKS = frozenset({f"{{{SVG}}}use", f"{{{SVG}}}path"})


def name_marks(marks: "Artist | Sequence[Artist]", names: Sequence[str]) -> None:
    """Attach a text to every mark: the points of one collection (`scatter`), or a sequence of patches (`bar`)."""
    artists = marks if isinstance(marks, Sequence) or hasattr(marks, "patches") else None
    if artists is None:
        artist: Any = marks
        _names_by_id(artist)[_new_id(artist)] = list(names)
        return
    for artist, name in zip(artists, names, strict=True):  # type: ignore[arg-type]
        _names_by_id(artist)[_new_id(artist)] = [name]


def name_photo(image: "Artist", name: str) -> None:
    """Attach a text to an image drawn by `imshow(..., interpolation="none")`, which an SVG file then holds as JPEG."""
    _names_by_id(image)[_new_id(image, PHOTO_ID)] = [name]


def _names_by_id(artist: Any) -> dict[str, list[str]]:
    """Return the texts of the figure's marks by id, which it keeps."""
    figure = artist.get_figure(root=True)
    found: dict[str, list[str]] = vars(figure).setdefault("names_of_marks", {})
    return found


def _new_id(artist: Any, prefix: str = "marks") -> str:
    """Give an artist an id that no other of its figure has, and return it."""
    name = f"{prefix}-{len(_names_by_id(artist))}"
    artist.set_gid(name)
    return name


HASHED_ID = re.compile(r"([a-z]+)[0-9a-f]{10}")  # of matplotlib: a letter for the kind, and a hash


def svg_text(figure: "Figure", *, title: str = "", description: str = "", id_prefix: str = "") -> str:
    """Return a figure as SVG: with a title and a description for screen readers, and texts of marks under the pointer.

    `id_prefix` starts every id, so that several figures can stand in one page.
    """
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    root = ElementTree.fromstring(buffer.getvalue())
    names = vars(figure).get("names_of_marks", {})
    for element in root.iter(f"{{{SVG}}}g"):
        if texts := names.get(element.get("id", "")):
            _add_titles(element, texts)
    for element in root.iter(f"{{{SVG}}}image"):
        if texts := names.get(element.get("id", "")):
            ElementTree.SubElement(element, f"{{{SVG}}}title").text = shown_name(texts[0], 300)
    store_photos_as_jpeg(root)
    for metadata in root.findall(f"{{{SVG}}}metadata"):
        root.remove(metadata)
    _describe(root, title, description)
    _number_ids(root, id_prefix)
    return ElementTree.tostring(root, encoding="unicode")


def _add_titles(group: ElementTree.Element, texts: Sequence[str]) -> None:
    """Add a <title> with its text to every mark drawn in a group, if there are as many marks as texts."""
    marks = [element for element in group.iter() if element.tag in MARKS and not _is_definition(group, element)]
    if len(marks) != len(texts):
        return  # marks outside the axes are not drawn: their order is unknown
    for mark, text in zip(marks, texts, strict=True):
        ElementTree.SubElement(mark, f"{{{SVG}}}title").text = shown_name(text, 300)


def _is_definition(group: ElementTree.Element, element: ElementTree.Element) -> bool:
    """Return whether an element stands in a <defs> of the group: it is used elsewhere, not drawn."""
    return any(element in list(defs.iter()) for defs in group.iter(f"{{{SVG}}}defs"))


def _describe(root: ElementTree.Element, title: str, description: str) -> None:
    """Make the picture readable to screen readers: an image with a title and a description."""
    root.set("role", "img")
    for tag, text in (("desc", description), ("title", title)):
        if text:
            element = ElementTree.Element(f"{{{SVG}}}{tag}")
            element.text = shown_name(text, 2000)
            root.insert(0, element)
    if title:
        root.set("aria-label", shown_name(f"{title}. {description}".strip(), 2000))


def _number_ids(root: ElementTree.Element, prefix: str) -> None:
    """Replace ids that are hashes by numbers and put a prefix before all ids, and in all references to them, in place.

    The hashes are of positions with all their digits, of which the last ones differ between runs.
    """
    new: dict[str, str] = {}
    for element in root.iter():
        if (old := element.get("id")) is not None and old not in new:
            hashed = HASHED_ID.fullmatch(old)
            new[old] = prefix + (f"{hashed[1]}-{len(new)}" if hashed else old)
    for element in root.iter():
        for name, value in element.attrib.items():
            if name == "id":
                element.set(name, new[value])
            elif name == f"{{{LINK}}}href" and value.startswith("#"):
                element.set(name, f"#{new.get(value[1:], prefix + value[1:])}")
            elif "url(#" in value:
                element.set(
                    name, re.sub(r"url\(#([^)]*)", lambda found: f"url(#{new.get(found[1], prefix + found[1])}", value)
                )
