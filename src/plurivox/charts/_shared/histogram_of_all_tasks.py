"""Histogram of a number of every task, such as a score or a distance, with the range of the tasks drawn above or below it."""

from typing import TYPE_CHECKING, Literal

import numpy as np

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.panels import horizontal_grid, plain_log_ticks
from plurivox.charts._shared.theme import SERIES
from plurivox.core.array_types import Floats
from plurivox.core.count_text import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

N_BINS = 40
LOG_FROM = 50  # ratio of the tallest bar to the lowest above which the axis of tasks is logarithmic


def draw_histogram_of_all_tasks(
    ax: "Axes", values: Floats, shown: Floats, *, what: str, title: str, where: Literal["above", "below"]
) -> None:
    """Draw the histogram of the values of all tasks and shade the range of those shown `where`.

    `what` is the value in the heading, such as "distance", `title` that of the x axis with its unit.
    """
    heights, edges = np.histogram(values, N_BINS if np.ptp(values) > 1e-12 else 1)
    bars = ax.bar(
        edges[:-1], heights, np.diff(edges), align="edge", color=SERIES[0], edgecolor=ax.get_facecolor(), lw=0.4
    )
    ranges = zip(edges[:-1], edges[1:], heights.tolist(), strict=True)
    name_marks(bars.patches, [f"{low:.3g} to {high:.3g}: {count_text(n, 'task')}" for low, high, n in ranges])
    ends = float(shown.min()), float(shown.max())
    ax.axvspan(*ends, color=SERIES[1], alpha=0.25, lw=0)
    for at in dict.fromkeys(ends):
        ax.axvline(at, color=SERIES[1], linewidth=1.2, linestyle="--")
    heading = f"{what} of all {count_text(len(values), 'task')}" if len(values) != 1 else f"{what} of the task"
    ax.set_title(f"{heading}; shaded: those {where}")
    if heights.max() > LOG_FROM * heights[heights > 0].min():
        plain_log_ticks(ax, "y")
        ax.set_ylim(bottom=0.7)
    ax.set(xlabel=title, ylabel="tasks")
    horizontal_grid(ax)
