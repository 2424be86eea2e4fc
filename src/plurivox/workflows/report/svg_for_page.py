"""The SVG of a chart as part of an HTML page: its colours follow the page, light or dark, and its width that of the window."""

import re
from xml.etree import ElementTree

from plurivox.charts._shared.hover_text import SVG
from plurivox.charts._shared.theme import SERIES, THEMES

VARIABLES = {getattr(THEMES["light"], name): f"var(--{name})" for name in ("paper", "ink", "muted", "grid")}
VARIABLES[SERIES[0].lower()] = "var(--series)"  # a blue that is hard to see on a dark page
THEME_COLOR = re.compile("|".join(map(re.escape, VARIABLES)), re.IGNORECASE)
COLOR_ATTRIBUTES = ("style", "fill", "stroke", "stop-color")
TEXT_TAGS = frozenset({f"{{{SVG}}}text", f"{{{SVG}}}tspan"})
LEFT_OUT = frozenset(f"{{{SVG}}}{name}" for name in ("style", "script", "foreignObject"))
WHITE_FILL = re.compile(rf"\bfill:\s*{re.escape(THEMES['light'].paper)}", re.IGNORECASE)
PIXELS = {"pt": 4 / 3, "px": 1.0, "": 1.0}  # of CSS, per unit of width and height


def svg_for_page(svg: str) -> str:
    """Return the SVG element of a chart drawn in the light theme, to be placed in an HTML page.

    Colours of the theme become the CSS variables --paper, --ink, --muted and --grid, and the first of the series --series.
    White text stays white: it stands on a coloured mark. Style sheets and scripts are left out, because they would act on
    the whole page.
    """
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in [one for one in parent if one.tag in LEFT_OUT]:
            parent.remove(child)
        _replace_theme_colors(parent)
    _give_size_in_pixels(root)
    if title := root.findtext(f"{{{SVG}}}title"):
        root.set("aria-label", title)  # the page has the caption below the picture: it should not be read out twice
    return ElementTree.tostring(root, encoding="unicode")


def _replace_theme_colors(element: ElementTree.Element) -> None:
    """Replace the colours of the light theme in the attributes of an element by CSS variables, in place.

    Only style declarations can refer to variables, so that attributes such as fill become part of the style.
    """
    declarations = []
    for name in COLOR_ATTRIBUTES:
        value = element.get(name)
        if value is None or (name != "style" and not THEME_COLOR.fullmatch(value.strip())):
            continue
        declarations.append(value.strip().rstrip(";") if name == "style" else f"{name}: {value.strip()}")
        del element.attrib[name]
    if declarations:
        style = "; ".join(reversed(declarations))  # the style itself comes last: it has precedence
        element.set("style", _style_with_variables(style, element.tag in TEXT_TAGS))


def _style_with_variables(style: str, of_text: bool) -> str:
    """Return style declarations with CSS variables in place of the colours of the theme; white text stays white."""
    parts = [
        part if of_text and WHITE_FILL.search(part) else THEME_COLOR.sub(lambda m: VARIABLES[m[0].lower()], part)
        for part in style.split(";")
    ]
    return ";".join(parts)


def _give_size_in_pixels(root: ElementTree.Element) -> None:
    """Give the outermost element its natural size in CSS pixels; a style sheet may make it narrower."""
    root.attrib.pop("version", None)
    for name in ("width", "height"):
        if found := re.fullmatch(r"([\d.]+)(pt|px|)", root.get(name, "")):
            root.set(name, f"{float(found[1]) * PIXELS[found[2]]:.0f}")
