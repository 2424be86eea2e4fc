"""Workers ranked by one score: a dot per worker with its 95% interval, the worst on top."""

from typing import TYPE_CHECKING, Any

import numpy as np

from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import vertical_grid
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.charts._shared.worker_score_table import WorkerScoreTable
from plurivox.core.array_types import Ints
from plurivox.core.count_text import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW = 10  # votes; the mark of a worker with fewer is hollow
N_RANKED = 40  # rows; of more workers, the worst and the best half of them are shown


def draw_ranked_workers(ax: "Axes", table: WorkerScoreTable, worst: float) -> str:
    """Draw workers by their only score, the worst on top, and return the caption."""
    badness, raw = table.badness[:, 0], table.raw[:, 0]
    known = np.flatnonzero(~np.isnan(badness) & np.isfinite(raw))
    order = known[np.argsort(-badness[known], kind="stable")]
    if not len(order):
        order = np.flatnonzero(np.isfinite(raw))
    is_cut = len(order) > N_RANKED
    half = N_RANKED // 2
    rows = np.concatenate([order[:half], order[-half:]]) if is_cut else order
    place = np.arange(len(rows)) + (np.arange(len(rows)) >= half) * is_cut
    _draw_dots(ax, table, rows, place, table.is_among_worst(worst)[:, 0][rows])
    median = float(np.median(raw[order]))
    ax.axvline(median, color=current_theme().ink, linewidth=1, linestyle="--", zorder=0)
    ax.annotate(
        f"median {median:,.3g}",
        (median, 1),
        xycoords=("data", "axes fraction"),
        xytext=(0, 2),
        textcoords="offset points",
        ha="center",
        fontsize=8,
    )
    if is_cut:
        style: dict[str, Any] = {"transform": ax.get_yaxis_transform(), "color": current_theme().muted, "fontsize": 8}
        ax.text(0.01, half, f"… {len(order) - 2 * half:,} workers between …", va="center", **style)
    ax.set(xlabel=shown_name(table.titles[0], 60), ylabel="worker, worst on top")
    vertical_grid(ax)
    return _caption(table, rows, len(order), is_cut)


def _draw_dots(ax: "Axes", table: WorkerScoreTable, rows: Ints, place: Ints, is_bad: Ints) -> None:
    """Draw the dots, their intervals, and at the right the number of votes."""
    theme = current_theme()
    raw, low, high = (column[rows, 0] for column in (table.raw, table.low, table.high))
    few = table.votes[rows] < FEW  # False for NaN
    for bad, color, marker in ((False, SERIES[0], "o"), (True, SERIES[1], "s")):
        some = is_bad == bad
        ax.hlines(place[some], low[some], high[some], color=color, linewidth=1.2, alpha=0.7)
        if some.any():
            fill = [theme.paper if is_small else color for is_small in few[some].tolist()]
            dots = ax.scatter(
                raw[some], place[some], 22, c=fill, edgecolors=color, linewidths=1, marker=marker, zorder=3
            )
            name_marks(dots, [f"{table.workers[i]}: {table.raw[i, 0]:.4g}" for i in rows[some].tolist()])
    ax.set_yticks(place, [shown_name(one, 18) for one in table.workers[rows]], fontsize=7)
    ax.set_ylim(place.max() + 0.8, -0.8)
    if not np.isnan(table.votes[rows]).all():
        style: dict[str, Any] = {
            "transform": ax.get_yaxis_transform(),
            "fontsize": 7,
            "color": theme.muted,
            "ha": "right",
            "va": "center",
        }
        for row, y in zip(rows.tolist(), place.tolist(), strict=True):
            text = "" if np.isnan(table.votes[row]) else f"{table.votes[row]:,.0f}"
            ax.text(1.07, y, text, **style)
        ax.text(1.07, -0.8, "votes", **style | {"va": "bottom"})


def _caption(table: WorkerScoreTable, rows: Ints, n: int, is_cut: bool) -> str:
    """Return what is shown, with the worst and the best worker."""
    half = N_RANKED // 2
    what = f"The {half} worst and {half} best of {count_text(n, 'worker')}" if is_cut else count_text(n, "worker")
    lines = "; lines are 95% intervals" if np.isfinite(table.low[rows, 0]).any() else ""
    hollow = f"; hollow: fewer than {FEW} votes" if (table.votes[rows] < FEW).any() else ""
    first, last = (_worker_in_words(table, int(row)) for row in rows[[0, -1]])
    return (
        f"{what} by {shown_name(table.titles[0], 60)}, the worst on top{lines}{hollow}. The worst is {first}, the best {last}. "
        "A score from few votes says little."
    )


def _worker_in_words(table: WorkerScoreTable, row: int) -> str:
    """Return a worker with the score and the number of votes."""
    votes = "" if np.isnan(table.votes[row]) else f" ({count_text(table.votes[row], 'vote')})"
    return f"{shown_name(table.workers[row])} with {table.raw[row, 0]:.3g}{votes}"
