"""The SVG of a chart in a page: its colours follow the page, its size is in pixels, nothing in it acts on the page."""

import re
from xml.etree import ElementTree

import pytest

from chart_inputs import chart_input
from plurivox import charts
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.theme import THEMES
from plurivox.workflows.report.svg_for_page import svg_for_page

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="72pt" height="36pt" viewBox="0 0 72 36">{}</svg>'
LIGHT = THEMES["light"]


def converted(inside: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg_for_page(SVG.format(inside)))


def test_colours_of_the_theme_become_variables_in_styles() -> None:
    rect = converted(f'<rect fill="{LIGHT.paper}" stroke="{LIGHT.ink.upper()}" style="opacity: 0.5"/>')[0]
    assert rect.attrib == {"style": "stroke: var(--ink); fill: var(--paper); opacity: 0.5"}
    path = converted(f'<path style="fill: none; stroke: {LIGHT.grid}"/>')[0]
    assert path.get("style") == "fill: none; stroke: var(--grid)"
    assert converted('<rect fill="#0072B2"/>')[0].attrib == {"style": "fill: var(--series)"}
    assert converted('<rect fill="#d55e00"/>')[0].attrib == {"fill": "#d55e00"}


def test_white_text_stays_white_and_its_outline_follows_the_page() -> None:
    text = converted(f'<text style="fill: {LIGHT.paper}; stroke: {LIGHT.paper}">5</text>')[0]
    assert text.get("style") == f"fill: {LIGHT.paper}; stroke: var(--paper)"
    assert converted(f'<text style="fill: {LIGHT.ink}">5</text>')[0].get("style") == "fill: var(--ink)"


def test_the_size_is_in_pixels_and_nothing_acts_on_the_page() -> None:
    inside = (
        "<style>p { color: red }</style><g><script>alert(1)</script><foreignObject/><path/></g><title>Votes</title>"
    )
    root = converted(inside)
    assert (root.get("width"), root.get("height"), root.get("aria-label")) == ("96", "48", "Votes")
    assert [one.tag.split("}")[1] for one in root.iter()] == ["svg", "g", "path", "title"]


@pytest.mark.parametrize("name", charts.methods)
def test_no_colour_of_the_light_theme_is_left_in_a_chart_but_white_text(name: str) -> None:
    figure = draw_figure(charts.methods.make(name), chart_input())
    root = ElementTree.fromstring(svg_for_page(figure.to_svg("c1-")))
    left = re.compile("|".join((LIGHT.ink, LIGHT.muted, LIGHT.grid)), re.IGNORECASE)
    for element in root.iter():
        assert not any(left.search(value) for value in element.attrib.values()), element.attrib
        assert LIGHT.paper not in element.get("style", "") or element.tag.endswith(("text", "tspan"))
