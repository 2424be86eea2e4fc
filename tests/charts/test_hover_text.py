"""SVG text of charts: ids that are the same in every run, each once, and all references to them valid."""

import re

from chart_inputs import chart_input
from plurivox import charts
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.figure_files import ChartFigure


def drawn(name: str) -> ChartFigure:
    return draw_figure(charts.methods.make(name), chart_input())


def test_ids_do_not_depend_on_the_last_digits_of_positions() -> None:
    first, second = drawn("hardest"), drawn("hardest")
    for ax in second.axes:
        box = ax.get_position()
        ax.set_position((box.x0 + 1e-13, box.y0, box.width, box.height))
    second.set_layout_engine("none")
    first.set_layout_engine("none")
    assert re.findall(r'id="[^"]*"', first.to_svg()) == re.findall(r'id="[^"]*"', second.to_svg())


def test_every_reference_is_to_an_id_and_every_id_starts_with_the_prefix() -> None:
    svg = drawn("hardest").to_svg(id_prefix="c1-")
    ids = re.findall(r'\bid="([^"]*)"', svg)
    referred = set(re.findall(r'(?:url\(#|href="#)([^")]*)', svg))
    assert referred and referred <= set(ids) and all(one.startswith("c1-") for one in ids)
