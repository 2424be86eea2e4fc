"""Histogram of counts, such as votes per worker: one bar per count if there are few, else intervals, log-spaced if skewed."""

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import MaxNLocator

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.panels import horizontal_grid, plain_log_ticks, write_in_place_of_data
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.core.array_types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SKEW = 20  # largest count per median count above which the axis is logarithmic
N_BARS = 30


def draw_histogram_of_counts(ax: "Axes", counts: Floats, x_title: str, y_title: str) -> None:
    """Draw how many things have which count, with a line at the median."""
    if not len(counts):
        write_in_place_of_data(ax, f"no {y_title}")
        return
    edges, is_log = bar_edges(counts)
    heights, _ = np.histogram(counts, edges)
    gap = 0.0 if is_log else 0.08
    left, width = edges[:-1] + gap / 2 * np.diff(edges), (1 - gap) * np.diff(edges)
    bars = ax.bar(left, heights, width, align="edge", color=SERIES[0])
    pairs = zip(edges[:-1], edges[1:], heights.tolist(), strict=True)
    name_marks(bars.patches, [f"{_counts_text(low, high)} {x_title}: {n:,} {y_title}" for low, high, n in pairs])
    if is_log:
        plain_log_ticks(ax, "x")
    else:
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=True, min_n_ticks=1))
    _mark_median(ax, float(np.median(counts)))
    ax.yaxis.set_major_locator(MaxNLocator(6, integer=True, min_n_ticks=1))
    ax.set(xlabel=x_title, ylabel=y_title)
    horizontal_grid(ax)


def bar_edges(counts: Floats) -> tuple[Floats, bool]:
    """Return (edges of the bars, whether they are spaced logarithmically); every bar covers the same number of whole counts.

    >>> bar_edges(np.array([1.0, 2.0, 3.0]))[0].tolist()
    [0.5, 1.5, 2.5, 3.5]
    """
    low, high, median = np.floor(counts.min()), np.ceil(counts.max()), float(np.median(counts))
    if low > 0 and high > SKEW * median:
        edges = np.unique(np.round(np.geomspace(low, high + 1, N_BARS)) - 0.5)
        return edges, True
    step = max(1.0, np.ceil((high - low + 1) / N_BARS))
    return low - 0.5 + step * np.arange(np.ceil((high - low + 1) / step) + 1), False


def _mark_median(ax: "Axes", median: float) -> None:
    """Draw a vertical line at the median, with its value."""
    ax.axvline(median, color=current_theme().ink, linewidth=1, linestyle="--")
    ax.annotate(
        f"median {median:,.4g}",
        (median, 1),
        xycoords=("data", "axes fraction"),
        xytext=(4, 0),
        textcoords="offset points",
        va="bottom",
        fontsize=8,
    )


def _counts_text(low_edge: float, high_edge: float) -> str:
    """Return the whole counts between two edges as text, such as "3" or "10 to 19"."""
    first, last = np.ceil(low_edge), np.floor(high_edge)
    return f"{first:,.0f}" if first >= last else f"{first:,.0f} to {last:,.0f}"
