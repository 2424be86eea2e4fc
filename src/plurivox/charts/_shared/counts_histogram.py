"""Histogram of counts, such as votes per worker: one bar per count if there are few, else intervals, log-spaced if skewed."""

from typing import TYPE_CHECKING

import numpy as np

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.panels import horizontal_grid, plain_log_ticks, whole_number_ticks, write_in_place_of_data
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.core.array_types import Floats

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SKEW = 20  # largest count per median count above which the axis is logarithmic
N_BARS = 30
MAX_NUMBERED_BARS = 8  # with more, the numbers above the bars would touch
MIN_WIDTH = 4  # of the axis in bars, so that few bars are not broad


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
    if is_log:  # a thin line between bars, since a gap in counts would be wider at the left
        for bar in bars:
            bar.set(edgecolor=current_theme().paper, linewidth=0.6)
    pairs = zip(edges[:-1], edges[1:], heights.tolist(), strict=True)
    name_marks(bars.patches, [f"{_counts_text(low, high)} {x_title}: {n:,} {y_title}" for low, high, n in pairs])
    if is_log:
        plain_log_ticks(ax, "x")
    else:
        whole_number_ticks(ax, "x", 8)
        margin = max((MIN_WIDTH - len(heights)) / 2, 0.25) * float(edges[1] - edges[0])
        ax.set_xlim(edges[0] - margin, edges[-1] + margin)
    if np.count_nonzero(heights) <= MAX_NUMBERED_BARS:
        texts = ax.bar_label(bars, [f"{n:,}" if n else "" for n in heights.tolist()], padding=3, fontsize=8)
        for text in texts:  # readable where the line at the median crosses it
            text.set_bbox({"facecolor": current_theme().paper, "edgecolor": "none", "pad": 0.6})
            text.set_zorder(3)
        ax.margins(y=0.08)
    _mark_median(ax, float(np.median(counts)))
    whole_number_ticks(ax)
    ax.set(xlabel=f"{x_title} (logarithmic axis)" if is_log else x_title, ylabel=y_title)
    horizontal_grid(ax)


def bar_edges(counts: Floats) -> tuple[Floats, bool]:
    """Return (edges of the bars, whether they are spaced logarithmically).

    Every bar covers the same number of whole counts; of logarithmic bars each at least as many as the one before.

    >>> bar_edges(np.array([1.0, 2.0, 3.0]))[0].tolist()
    [0.5, 1.5, 2.5, 3.5]
    """
    low, high, median = np.floor(counts.min()), np.ceil(counts.max()), float(np.median(counts))
    if low > 0 and high > SKEW * median:
        return log_bar_edges(int(low), int(high)), True
    step = max(1.0, np.ceil((high - low + 1) / N_BARS))
    return low - 0.5 + step * np.arange(np.ceil((high - low + 1) / step) + 1), False


def log_bar_edges(low: int, high: int) -> Floats:
    """Return edges of about 30 bars whose width grows with the counts.

    >>> log_bar_edges(1, 1000)[:9].tolist()
    [0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5, 9.5]
    """
    growth = (high / low) ** (1 / N_BARS) - 1
    starts, step = [low], 1
    while starts[-1] <= high:
        step = max(step, int(growth * starts[-1]))
        starts.append(starts[-1] + step)
    return np.array(starts) - 0.5


def count_as_text(count: float) -> str:
    """Return a count, or a mean or median of counts, as text with two decimals at most.

    >>> count_as_text(50000), count_as_text(2.5), count_as_text(1234.567)
    ('50,000', '2.5', '1,234.57')
    """
    return f"{count:,.2f}".rstrip("0").rstrip(".")


def range_in_words(counts: Floats, unit: str) -> str:
    """Return the median, the smallest and the largest count in words.

    >>> range_in_words(np.array([1.0, 3.0, 4.0]), "task"), range_in_words(np.array([3.0, 3.0]), "task")
    ('a median of 3 per task, from 1 to 4', '3 per task')
    """
    low, high = float(counts.min()), float(counts.max())
    if low == high:
        return f"{count_as_text(low)} per {unit}"
    median = count_as_text(float(np.median(counts)))
    return f"a median of {median} per {unit}, from {count_as_text(low)} to {count_as_text(high)}"


def _mark_median(ax: "Axes", median: float) -> None:
    """Draw a vertical line at the median, with its value."""
    ax.axvline(median, color=current_theme().ink, linewidth=1, linestyle="--")
    ax.annotate(
        f"median {count_as_text(median)}",
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
