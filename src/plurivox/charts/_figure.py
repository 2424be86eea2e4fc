"""Draw a chart: a new figure, or axes of the caller."""

import warnings
from typing import TYPE_CHECKING, Any

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.figure_files import MISSING_GLYPH, ChartFigure
from plurivox.charts._shared.theme import ThemeName, theme_settings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_figure(chart: Chart, data: ChartData, *, theme: ThemeName = "light") -> ChartFigure:
    """Return a new figure with the chart; its `caption` says in words what it shows."""
    chart.check(data)
    with theme_settings(theme), warnings.catch_warnings():
        warnings.filterwarnings("ignore", MISSING_GLYPH)  # reported when the figure is written
        figure = ChartFigure(
            figsize=chart.size(data), layout="constrained", title=chart.summary().rstrip("."), theme=theme
        )
        figure.caption = chart.draw(figure.add_subplot(), data)
        figure.draw_without_rendering()  # fix the layout now, with the fonts and settings of the theme
    return figure


def draw_on_axes(chart: Chart, data: ChartData, ax: "Axes", *, theme: ThemeName = "light") -> "Figure":
    """Draw the chart in the place of `ax` and return its figure; the caption is in `figure.caption`."""
    chart.check(data)
    with theme_settings(theme):
        caption = chart.draw(ax, data)
    figure: Any = ax.get_figure(root=True)
    figure.caption = caption
    return figure
