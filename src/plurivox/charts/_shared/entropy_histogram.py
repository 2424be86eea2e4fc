"""Histogram of the entropies of soft labels, of one or several methods."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import horizontal_grid, whole_number_ticks, write_in_place_of_data
from plurivox.charts._shared.theme import LINES, MARKERS, SERIES, current_theme
from plurivox.core.array_types import Bools, Floats
from plurivox.core.count_text import count_text
from plurivox.core.soft_labels import SoftLabels

N_BARS = 25


def voted_on(soft: SoftLabels) -> Bools:
    """(n_tasks,) whether a task has votes; true if the soft labels do not say how many."""
    return np.ones(len(soft), bool) if soft.support is None else soft.support > 0


def draw_entropy_histogram(ax: Any, soft: Mapping[str, SoftLabels]) -> dict[str, Floats]:
    """Draw how many tasks have which entropy, bars for one method and lines for several; return the entropies in nats."""
    found = {name: np.clip(one.entropy()[voted_on(one)], 0, None) for name, one in soft.items()}
    found = {name: one for name, one in found.items() if len(one)}
    if not found:
        write_in_place_of_data(ax, "no tasks with votes")
        return found
    most = float(np.log(max(max(one.n_labels for one in soft.values()), 1)))
    largest = max(float(one.max()) for one in found.values())
    end = max(most if largest > 0.6 * most else 1.1 * largest, 0.1)
    edges = np.linspace(0, end, N_BARS + 1)
    heights = {name: np.histogram(one, edges)[0] for name, one in found.items()}
    if len(found) == 1:
        _draw_bars(ax, next(iter(heights.values())), edges)
    else:
        handles: list[Any] = []
        for place, (name, height) in enumerate(heights.items()):
            style = {"color": SERIES[place], "linestyle": LINES[place]}
            ax.stairs(height, edges, linewidth=1.6, baseline=None, **style)
            handles += ax.plot([], [], marker=MARKERS[place], label=shown_name(name), **style)
        ax.legend(handles=handles, loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2)
    ax.set_ylim(0, 1.15 * max(int(one.max()) for one in heights.values()))  # space for the text at the maximum
    _mark_maximum(ax, most, end, next(iter(soft.values())).n_labels)
    ax.set(xlabel="entropy (nats)", ylabel="tasks", xlim=(0, end * 1.02))
    whole_number_ticks(ax)
    horizontal_grid(ax)
    return found


def _draw_bars(ax: Any, heights: Any, edges: Floats) -> None:
    """Draw the histogram of one method."""
    width = float(edges[1] - edges[0])
    bars = ax.bar(edges[:-1] + 0.04 * width, heights, 0.92 * width, align="edge", color=SERIES[0])
    ranges = zip(edges[:-1], edges[1:], heights.tolist(), strict=True)
    name_marks(bars.patches, [f"{low:.2f} to {high:.2f} nats: {count_text(n, 'task')}" for low, high, n in ranges])


def _mark_maximum(ax: Any, most: float, end: float, n_labels: int) -> None:
    """Draw a line at the largest possible entropy; if it is beyond the axis, say so."""
    text = f"maximum log {n_labels:,} = {most:.2f}"
    place: dict[str, Any] = {"xycoords": ("data", "axes fraction"), "textcoords": "offset points", "fontsize": 8}
    if most <= end:
        ax.axvline(most, color=current_theme().ink, linewidth=1, linestyle="--")
        ax.annotate(text, (most, 0.99), xytext=(-4, 0), ha="right", va="top", **place)
    else:
        ax.annotate(f"{text} →", (end, 0.99), xytext=(0, 0), ha="right", va="top", **place)
