"""Several panels in the place of one pair of axes, axes without parts that say nothing, and text in their place."""

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from plurivox.charts._shared.theme import current_theme

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LABEL_TWOS_BELOW = 1000  # ratio of the ends of a logarithmic axis below which its ticks at 2, 5, 20, ... have labels


def panels(ax: "Axes", rows: int, columns: int, **settings: Any) -> NDArray[Any]:
    """Hide `ax` and return (rows, columns) new axes in its place; `settings` are those of a GridSpec, such as width_ratios."""
    figure: Any = ax.figure
    place = ax.get_subplotspec()
    if place is None:  # axes made by add_axes: fixed margins
        box = ax.get_position()
        grid: Any = figure.add_gridspec(
            rows,
            columns,
            left=box.x0,
            right=box.x1,
            bottom=box.y0,
            top=box.y1,
            **{"wspace": 0.3, "hspace": 0.4} | settings,
        )
    else:
        grid = place.subgridspec(rows, columns, **settings)
    hide_axes(ax)
    found = np.empty((rows, columns), object)
    for row in range(rows):
        for column in range(columns):
            found[row, column] = figure.add_subplot(grid[row, column])
    return found


def hide_axes(ax: "Axes") -> None:
    """Hide everything of axes but what is drawn in them; without ticks, so that they are laid out fast."""
    ax.set_axis_off()
    ax.xaxis.set_visible(False)
    ax.yaxis.set_visible(False)


def horizontal_grid(ax: "Axes") -> None:
    """Draw grid lines at the ticks of the y axis."""
    ax.grid(axis="y")
    ax.tick_params(axis="y", length=0)


def vertical_grid(ax: "Axes") -> None:
    """Draw grid lines at the ticks of the x axis."""
    ax.grid(axis="x")
    ax.tick_params(axis="x", length=0)


def write_in_place_of_data(ax: "Axes", text: str) -> None:
    """Write a text in the middle of axes that have nothing to show."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
    ax.text(0.5, 0.5, text, transform=ax.transAxes, ha="center", va="center", color=current_theme().muted, wrap=True)


def whole_number_ticks(ax: "Axes", which: str = "y", most: int = 6) -> None:
    """Put at most so many ticks at round whole numbers of an axis of counts, such as 0, 500, 1,000."""
    from matplotlib.ticker import MaxNLocator, StrMethodFormatter

    axis = getattr(ax, f"{which}axis")
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=True, min_n_ticks=1))
    axis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))


def plain_log_ticks(ax: "Axes", which: str = "x") -> None:
    """Make an axis logarithmic with ticks such as 1, 10, 1,000; over less than three powers of ten also 2, 5, 20, ..."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    getattr(ax, f"set_{which}scale")("log")
    axis = getattr(ax, f"{which}axis")

    def minor_text(value: float, _: int | None) -> str:
        low, high = axis.get_view_interval()
        digit = value / 10.0 ** math.floor(math.log10(value) + 1e-9)
        return f"{value:,.10g}" if high < LABEL_TWOS_BELOW * low and round(digit, 6) in (2, 5) else ""

    axis.set_major_locator(LogLocator(10, numticks=8))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.10g}"))
    axis.set_minor_formatter(FuncFormatter(minor_text))


def percent_axis(ax: "Axes", which: str = "y") -> None:
    """Show the ticks of an axis of shares as percentages."""
    from matplotlib.ticker import FuncFormatter

    getattr(ax, f"{which}axis").set_major_formatter(FuncFormatter(lambda share, _: f"{100 * share + 0.0:,.4g}%"))
