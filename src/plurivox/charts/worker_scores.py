"""Scores of workers: how several scores rank the workers, and who is bad by more than one of them."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.line_end_labels import heights_apart
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import panels, write_in_place_of_data
from plurivox.charts._shared.ranked_workers import N_RANKED, draw_ranked_workers
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.charts._shared.worker_score_table import WorkerScoreTable, worker_score_table
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.method import option

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_SCORES = 5
MAX_NAMED_POINTS = 1_200  # points of a figure with texts under the pointer
MAX_VECTOR_POINTS = 3_000  # more points are drawn as an image
SIDE = {2: 2.6, 3: 2.1}  # inches of a panel by the number of scores
LABEL_HEIGHT = 0.12  # inches
SIZES = 6  # of points, by the number of votes


@dataclass(frozen=True)
class WorkerScores(Chart):
    """Scores of workers: how several scores rank the workers, and who is bad by more than one of them.

    A scatter plot per pair of scores (as their papers define them), with a point per worker, larger with more votes, the
    histogram of each score on the diagonal and Spearman's rank correlation of their badness above it: 1 if two scores rank
    the workers alike. A worker is doubtful, and drawn as a square, if among the worst tenth (`worst`) by two scores or more;
    tied workers are counted together or not at all. Confusion matrices that are given, such as those that a net with a
    crowd layer learnt, add their traces. A single score is drawn as a ranking, with its 95% intervals if it has any: all
    workers, or the worst and the best.

    The traces and spammer scores that are computed by default are those of matrices that are shrunk towards the whole
    crowd's, since of few votes the others rank workers by their number of votes; the published ones are `trace` and
    `spam-score`.

    Trace and spammer score: Lefort, Charlier, Joly & Salmon (2024), https://doi.org/10.57750/qmaz-gr91; rank correlation:
    Spearman (1904), https://doi.org/10.2307/1412159
    """

    k: int = option(5, "number of doubtful workers whose names are written", low=0, high=20)
    worst: float = option(0.1, "share of the workers that count as bad by a score", low=0.001, high=0.5)

    needs: ClassVar[tuple[str, ...]] = ("scores|confusions",)
    may_use: ClassVar[tuple[str, ...]] = ("votes",)
    scored_by: ClassVar[tuple[str, ...]] = (
        "agreement-with-rest",
        "trace-pooled",
        "spam-score-pooled",
        "glad-ability",
    )
    needs_named_workers: ClassVar[bool] = True
    figures: ClassVar[str] = "Lefort et al. (peerannot), Figures 13 and 14"

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the scatter matrix, or the ranking by a single score, and return the caption."""
        table = worker_score_table(data, MAX_SCORES)
        if not (~np.isnan(table.raw)).any():
            write_in_place_of_data(ax, "no worker has a score")
            ax.set(xlabel="score", ylabel="workers")
            return "No worker has a score."
        if len(table.titles) == 1:
            return draw_ranked_workers(ax, table, self.worst)
        is_bad = table.is_among_worst(self.worst)
        doubtful = is_bad.sum(1) >= 2
        order = np.flatnonzero(doubtful)
        order = order[np.argsort(-table.mean_rank()[order], kind="stable")]  # worst first
        self._draw_matrix(ax, table, doubtful, order[: self.k])
        return self._caption(table, order)

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return the size of the figure: it grows with the number of scores, or of workers in a ranking."""
        table = worker_score_table(data, MAX_SCORES)
        m = len(table.titles)
        if m < 2:
            return 6.4, 1.2 + 0.17 * min(len(table.workers), N_RANKED)
        side = SIDE.get(m, 1.72)
        return min(m * side + 0.7, 9.0), min(m * side * 0.9 + 0.6, 8.2)

    def _draw_matrix(self, ax: "Axes", table: WorkerScoreTable, doubtful: Bools, labelled: Ints) -> None:
        """Draw histograms on the diagonal, scatter plots below it and rank correlations above it."""
        m = len(table.titles)
        axes = panels(ax, m, m)
        limits = [_limits(column) for column in table.raw.T]
        height = self.size_of_panel(m)
        for i in range(m):
            for j in range(m):
                at = axes[i, j]
                if i == j:
                    _draw_histogram(at, table.raw[:, i], doubtful, limits[i])
                elif i < j:
                    _write_correlation(at, table.rank_correlation(i, j))
                    continue
                else:
                    _draw_points(at, table, (j, i), doubtful)
                    at.set(xlim=limits[j], ylim=limits[i])
                    if j == 0:
                        _label_workers(at, table, (j, i), labelled, height)
        _label_axes(axes, table.titles)

    @staticmethod
    def size_of_panel(m: int) -> float:
        """Return the height of a panel in inches, about, by the number of scores."""
        return 0.75 * SIDE.get(m, 1.72)

    def _caption(self, table: WorkerScoreTable, order: Ints) -> str:
        """Return how many workers are doubtful and who, and how alike the scores rank."""
        m, n = len(table.titles), len(table.workers)
        worst = f"among the worst {self.worst:.0%}" if self.worst * n > 1 else "the worst"
        text = f"Each point is one of {count_text(n, 'worker')}, larger with more votes. "
        if len(order):
            names = ", ".join(shown_name(one) for one in table.workers[order[: self.k]])
            first = f"; the worst: {names}" if self.k and len(order) > self.k else f": {names}" if self.k else ""
            marks = "orange square" if len(order) == 1 else "orange squares"
            text += (
                f"{count_text(len(order), 'worker')} ({marks}) {'is' if len(order) == 1 else 'are'} {worst} by "
                f"{'both' if m == 2 else f'at least two of {m}'} scores{first}. From few votes a "
                "score says little."
            )
        else:
            text += f"No worker is {worst} by {'both' if m == 2 else f'two of {m}'} scores."
        return text + self._correlations_in_words(table)

    @staticmethod
    def _correlations_in_words(table: WorkerScoreTable) -> str:
        """Return a sentence on the lowest and the highest rank correlation; "" if none is known."""
        m = len(table.titles)
        found = [(table.rank_correlation(i, j), i, j) for i in range(m) for j in range(i)]
        known = sorted(one for one in found if not np.isnan(one[0]))
        if not known:
            return ""
        low, high = (correlation_text(one[0]) for one in (known[0], known[-1]))
        if m == 2:
            return f" The rank correlation of the two scores is {low}."
        if low == high:
            return f" Their rank correlations are {low}."
        pairs = [
            f"{shown_name(table.titles[j])} and {shown_name(table.titles[i])}" for _, i, j in (known[0], known[-1])
        ]
        return f" Rank correlations go from {low} ({pairs[0]}) to {high} ({pairs[1]})."


def correlation_text(value: float) -> str:
    """Return a correlation with two decimals and a typographic minus sign.

    >>> correlation_text(-0.04), correlation_text(-0.001)
    ('−0.04', '0.00')
    """
    return f"{round(value, 2) + 0.0:.2f}".replace("-", "−")


def _limits(column: Floats) -> tuple[float, float]:
    """Return the limits of the axis of a score, a little wider than its values."""
    known = column[np.isfinite(column)]
    if not len(known):
        return 0.0, 1.0
    low, high = float(known.min()), float(known.max())
    margin = 0.07 * (high - low) or 0.5
    return low - margin, high + margin


def _draw_histogram(ax: "Axes", column: Floats, doubtful: Bools, limits: tuple[float, float]) -> None:
    """Draw the histogram of a score, the doubtful workers at the foot of the bars."""
    known = np.isfinite(column)
    edges = np.linspace(*limits, 21)
    bad, other = (np.histogram(column[known & one], edges)[0] for one in (doubtful, ~doubtful))
    width = float(edges[1] - edges[0])
    some = np.flatnonzero(bad)
    ax.bar(edges[some], bad[some], width, align="edge", color=SERIES[1])
    some = np.flatnonzero(bad + other)
    bars = ax.bar(edges[some], other[some], width, bad[some], align="edge", color=SERIES[0], alpha=0.75)
    texts = [f"{edges[i]:.3g} to {edges[i + 1]:.3g}: {count_text(bad[i] + other[i], 'worker')}" for i in some.tolist()]
    name_marks(bars.patches, texts)
    ax.set_xlim(*limits)


def _draw_points(ax: "Axes", table: WorkerScoreTable, pair: tuple[int, int], doubtful: Bools) -> None:
    """Draw a point per worker for a pair of scores, the doubtful ones last."""
    m, n = len(table.titles), len(table.workers)
    n_points = n * m * (m - 1) // 2
    there, step = np.isfinite(table.raw[:, pair]).all(1), _size_step(table.votes)
    scale = float(np.clip((150 / max(n, 1)) ** 0.5, 0.12, 1.0))
    for rows, color, marker in ((~doubtful, SERIES[0], "o"), (doubtful, SERIES[1], "s")):
        for size in np.unique(step[rows & there]).tolist():  # points of one size share one shape in an SVG file
            shown = np.flatnonzero(rows & there & (step == size))
            points = ax.scatter(
                table.raw[shown, pair[0]],
                table.raw[shown, pair[1]],
                (6 + 44 * size / SIZES) * scale,
                color=color,
                marker=marker,
                alpha=0.7 if marker == "o" else 0.9,
                linewidths=0,
                rasterized=n_points > MAX_VECTOR_POINTS,
            )
            if n_points <= MAX_NAMED_POINTS:
                name_marks(points, [_point_text(table, i) for i in shown.tolist()])


def _size_step(votes: Floats) -> Ints:
    """Return (n,) the size of each worker's point, 0 to `SIZES`, by their votes."""
    known = np.nan_to_num(votes, nan=0.0)
    return np.rint(SIZES * known / max(known.max(initial=0), 1)).astype(np.int64)


def _point_text(table: WorkerScoreTable, i: int) -> str:
    """Return the name of a worker with votes and scores."""
    votes = "" if np.isnan(table.votes[i]) else f", {count_text(table.votes[i], 'vote')}"
    scores = ", ".join(f"{title} {value:.3g}" for title, value in zip(table.titles, table.raw[i].tolist(), strict=True))
    return f"{shown_name(table.workers[i], 60)}{votes}: {scores}"


def _label_workers(ax: "Axes", table: WorkerScoreTable, pair: tuple[int, int], rows: Ints, height: float) -> None:
    """Write the names of some workers beside their points, moved apart so that they do not overlap."""
    rows = rows[np.isfinite(table.raw[rows][:, pair]).all(1)]
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    wanted = (table.raw[rows, pair[1]] - low) / (high - low)
    places = heights_apart(wanted, LABEL_HEIGHT / height)
    places += max(0.0, 0.03 - float(places.min(initial=1)))
    for row, place in zip(rows.tolist(), places.tolist(), strict=True):
        x, y = table.raw[row, pair[0]], table.raw[row, pair[1]]
        at = (x - left) / (right - left)
        ax.annotate(
            shown_name(table.workers[row], 12),
            (x, y),
            xytext=(at + (0.07 if at < 0.6 else -0.07), place),
            textcoords="axes fraction",
            ha="left" if at < 0.6 else "right",
            va="center",
            fontsize=6.5,
            bbox={"facecolor": current_theme().paper, "edgecolor": "none", "alpha": 0.7, "pad": 0.2},
            arrowprops={
                "arrowstyle": "-",
                "color": current_theme().muted,
                "linewidth": 0.5,
                "shrinkA": 0,
                "shrinkB": 2,
            },
        )


def _write_correlation(ax: "Axes", value: float) -> None:
    """Write a rank correlation into an empty panel."""
    ax.set_axis_off()
    text = "–" if np.isnan(value) else correlation_text(value)
    ax.text(0.5, 0.52, text, transform=ax.transAxes, ha="center", va="bottom", fontsize=13)
    style: dict[str, Any] = {
        "transform": ax.transAxes,
        "ha": "center",
        "va": "top",
        "fontsize": 7,
        "color": current_theme().muted,
    }
    ax.text(0.5, 0.46, "rank correlation", **style)


def _label_axes(axes: Any, titles: tuple[str, ...]) -> None:
    """Write the names of the scores at the left and the bottom, with few ticks."""
    from matplotlib.ticker import MaxNLocator

    m = len(titles)
    names = [shown_name(one, 24) for one in titles]
    for i in range(m):
        for j in range(i + 1):
            at = axes[i, j]
            at.xaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2))
            at.yaxis.set_major_locator(MaxNLocator(4, min_n_ticks=2, integer=i == j))
            at.tick_params(labelbottom=i == m - 1, labelleft=j == 0 or i == j, labelsize=7)
            if i == m - 1:
                at.set_xlabel(names[j], fontsize=8)
            if j == 0:
                at.set_ylabel(names[i] if i else "workers", fontsize=8)
