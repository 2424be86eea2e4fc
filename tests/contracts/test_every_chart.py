"""Contract tests that every chart must pass, including charts added later; `tests/chart_inputs.py` has their inputs."""

import pickle
import re
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

from chart_inputs import ODD_NAMES, chart_input, empty_chart_input
from plurivox import charts
from plurivox.charts import Chart, ChartData
from plurivox.charts._figure import draw_figure, draw_on_axes
from plurivox.charts._shared.figure_files import ChartFigure
from plurivox.core.errors import InputError

every = pytest.mark.parametrize("name", charts.methods)
LARGEST_SVG = 600_000  # bytes: a report holds about twenty pictures


def drawn(name: str, data: ChartData, **options: object) -> ChartFigure:
    return draw_figure(charts.methods.make(name, **options), data)


def check(figure: ChartFigure) -> str:
    """Check what holds for every picture: a caption, a valid and small SVG file without scripts; return the SVG."""
    svg = figure.to_svg()
    ElementTree.fromstring(svg)
    assert figure.caption.strip().endswith((".", "?")) and len(figure.caption) > 20, figure.caption
    assert len(svg) < LARGEST_SVG and "<script" not in svg.lower()
    assert not re.search(r"\bnan\b", figure.caption)
    return svg


@every
def test_name_summary_options_and_data(name: str) -> None:
    chart = charts.methods[name]
    assert chart.name() == name and chart.summary() == charts.methods.summary(name) != ""
    assert all(one.help for one in chart.options())
    assert chart.usable_data() <= set(ChartData.__dataclass_fields__) and chart.needs


@every
def test_it_draws_and_says_in_words_what_it_shows(name: str) -> None:
    figure = drawn(name, chart_input())
    check(figure)
    axes = [ax for ax in figure.axes if ax.axison]
    assert any(ax.get_xlabel() for ax in axes) and any(ax.get_ylabel() for ax in axes)


@every
def test_the_same_input_gives_the_same_picture(name: str) -> None:
    assert drawn(name, chart_input()).to_svg() == drawn(name, chart_input()).to_svg()


@every
@pytest.mark.parametrize(
    "size",
    [(1, 1, 1, 1), (2, 2, 2, 1), (3, 10_000, 3, 4_000), (40, 6, 1000, 4), (400, 40, 12, 5)],
    ids=["one of each", "two of each", "10,000 workers", "1,000 labels", "many tasks"],
)
def test_any_size_can_be_drawn(name: str, size: tuple[int, int, int, int]) -> None:
    check(drawn(name, chart_input(*size)))


@every
def test_names_may_be_in_any_script_and_hold_any_character(name: str) -> None:
    svg = check(drawn(name, chart_input(names=ODD_NAMES, n_labels=4)))
    assert "costs" not in svg or "$x^2$" in svg


@every
def test_empty_parts_are_drawn_too(name: str) -> None:
    check(drawn(name, empty_chart_input()))


@every
def test_the_input_does_not_change(name: str) -> None:
    data = chart_input()
    before = pickle.dumps(data)
    drawn(name, data)
    assert pickle.dumps(data) == before


@every
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(InputError, match=re.escape(f"the chart {name} needs ")):
        drawn(name, ChartData())


@every
def test_only_what_it_needs_is_needed(name: str) -> None:
    whole, chart = chart_input(), charts.methods.make(name)
    needed = {one.split("|")[0] for one in chart.needs}
    check(draw_figure(chart, ChartData(**{field: getattr(whole, field) for field in needed})))


@every
def test_it_draws_on_axes_of_the_caller(name: str) -> None:
    figure = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    chart: Chart = charts.methods.make(name)
    assert draw_on_axes(chart, chart_input(), right) is figure
    assert not left.lines and not left.patches and not left.collections
    figure.canvas.draw()


@every
def test_it_draws_for_dark_pages_too(name: str) -> None:
    light, dark = (draw_figure(charts.methods.make(name), chart_input(), theme=theme) for theme in ("light", "dark"))
    assert light.get_facecolor() != dark.get_facecolor() and check(dark) != check(light)
