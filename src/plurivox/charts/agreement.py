"""Agreement of pairs of workers, and how it changes from a worker's first to last answer."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.agreement_over_time import (
    Course,
    course_in_words,
    course_of_agreement,
    draw_course,
    votes_in_order,
)
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name, shown_names
from plurivox.charts._shared.pair_agreement_matrix import Measure, Order, PairAgreement, pair_agreement
from plurivox.charts._shared.panels import panels, percent_axis, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.theme import SERIES, current_theme, diverging_colormap, sequential_colormap
from plurivox.core.count_text import count_text
from plurivox.core.method import option

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_NAMED_CELLS = 700  # more pairs are drawn as an image, without texts under the pointer
MAX_NAMES, MAX_NAMES_BESIDE = 45, 90  # workers for whose names there is space below the columns, and beside the rows
TIMES_HEIGHT = 1.9  # inches


@dataclass(frozen=True)
class Agreement(Chart):
    """Agreement of pairs of workers: how often two give the same label, and how it changes from first to last answer.

    A cell is the share of the tasks that both answered on which they give the same label, or Cohen's kappa, which is 0 for
    agreement by chance. Pairs that share fewer than `least` tasks are hatched. Workers are ordered by average-linkage
    clustering of one minus the agreement, so that those who answer alike stand side by side (an unknown pair counts as what
    the means of its two workers let expect), or by their mean agreement, or by their votes. Of many workers those who share
    `least` tasks with most others are shown. At the right stands each worker's mean.

    If the times of the answers are known, or their places in the session, a panel below shows the agreement with the others
    in the course of the workers' own answers, minus the means of the task and of the worker, as in the score `drift`. If all
    workers answer the tasks in the same order, a change cannot be told from tasks that get harder, and shows as none.

    Cohen (1960), https://doi.org/10.1177/001316446002000104; optimal leaf ordering: Bar-Joseph, Gifford & Jaakkola (2001),
    https://doi.org/10.1093/bioinformatics/17.suppl_1.S22
    """

    measure: Measure = option("agreement", "share of equal labels, or Cohen's kappa, without agreement by chance")
    least: int = option(5, "smallest number of tasks that a pair shares", low=1)
    k: int = option(60, "show at most this many workers", low=2, high=150)
    order: Order = option("clusters", "similar workers side by side, by mean agreement, or by number of votes")

    may_use: ClassVar[tuple[str, ...]] = ("answers",)
    needs_named_workers: ClassVar[bool] = True

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the pairs, the means and the course over time, and return the caption."""
        made, course = self._pairs(data), self._course(data)
        place = ax
        if course is not None:
            upper, lower = panels(ax, 2, 1, height_ratios=[_pairs_height(made), TIMES_HEIGHT]).ravel()
            draw_course(lower, course)
            place = upper
        if len(made.workers) < 2:
            write_in_place_of_data(place, f"no two workers share {count_text(self.least, 'task')}")
            place.set(xlabel="worker", ylabel="worker")
            text = (
                f"No two of {count_text(made.n_crowd, 'worker')} share {count_text(self.least, 'task')}, so that their "
                "agreement is unknown; a lower least shows pairs that share fewer."
            )
        else:
            self._draw_pairs(place, made)
            text = self._caption(made)
        return text + ("" if course is None else course_in_words(course))

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return the size of the figure: it grows with the number of workers, and if there are times."""
        height = _pairs_height(self._pairs(data))
        return max(height + 1.6, 5.6), height + (TIMES_HEIGHT + 0.2 if self._course(data) is not None else 0)

    def _pairs(self, data: ChartData) -> PairAgreement:
        """Return the agreement of the pairs that are shown."""
        assert data.votes is not None
        votes = data.votes.where(data.votes.worker >= 0)
        return pair_agreement(votes, self.k, self.least, self.measure, self.order)

    def _course(self, data: ChartData) -> Course | None:
        """Return how the agreement changes over time; None if no times are known."""
        votes = votes_in_order(data)
        return None if votes is None else course_of_agreement(votes)

    def _draw_pairs(self, ax: "Axes", made: PairAgreement) -> None:
        """Draw the heat map, and at its right the mean of each worker."""
        square, means = panels(ax, 1, 2, width_ratios=[6, 1]).ravel()
        shades = self._shades(made)
        n, theme = len(made.workers), current_theme()
        square.patch.set(hatch="////", edgecolor=theme.grid, facecolor=theme.paper, linewidth=0)
        if n * n <= MAX_NAMED_CELLS:
            self._draw_named_cells(square, made, shades)
        else:
            square.imshow(
                np.ma.masked_invalid(made.value), cmap=shades.cmap, norm=shades.norm, aspect="auto", rasterized=True
            )
        for i in range(n):
            square.add_patch(_cell(i, i, facecolor=theme.paper))
        square.set(xlim=(-0.5, n - 0.5), ylim=(n - 0.5, -0.5))
        self._label_square(square, made)
        self._color_bar(square, shades, made)
        self._draw_means(means, made)

    def _draw_named_cells(self, ax: "Axes", made: PairAgreement, shades: Any) -> None:
        """Draw a cell per known pair, with both names and the number of common tasks under the pointer."""
        from matplotlib.collections import PatchCollection

        row, column = np.nonzero(~np.isnan(made.value))
        pairs = list(zip(row.tolist(), column.tolist(), strict=True))
        edge = current_theme().paper
        cells = PatchCollection(
            [_cell(x, y) for y, x in pairs], cmap=shades.cmap, norm=shades.norm, edgecolors=edge, linewidths=0.6
        )
        cells.set_array(made.value[row, column])
        ax.add_collection(cells)
        names = shown_names(made.workers, 40)
        texts = [
            f"{names[i]} and {names[j]}: {self.measure} {made.value[i, j]:.2f}, "
            f"{count_text(made.n_shared[i, j], 'common task')}"
            for i, j in pairs
        ]
        name_marks(cells, texts)

    def _shades(self, made: PairAgreement) -> Any:
        """Return the colours of the values: over their range, or below and above 0 if there are negative ones."""
        from matplotlib.cm import ScalarMappable
        from matplotlib.colors import Normalize

        low, high = float(np.nanmin(made.value)), float(np.nanmax(made.value))
        if low < 0:
            most = max(abs(low), abs(high), 0.1)
            return ScalarMappable(Normalize(-most, most), diverging_colormap())
        low, high = np.floor(10 * low) / 10, np.ceil(10 * high) / 10
        return ScalarMappable(Normalize(low, max(high, low + 0.1)), sequential_colormap())

    def _label_square(self, ax: "Axes", made: PairAgreement) -> None:
        """Write the names of the workers at the left and, if there is space, below."""
        n = len(made.workers)
        names, size = shown_names(made.workers, 14), float(np.clip(330 / n, 4, 8))
        beside, below = n <= MAX_NAMES_BESIDE, n <= MAX_NAMES
        ax.tick_params(length=0)
        ax.set_yticks(range(n) if beside else [], names if beside else [], fontsize=size)
        ax.set_xticks(range(n) if below else [], names if below else [], fontsize=size, rotation=90)
        ax.set(
            ylabel="worker" if beside else "worker (too many for names)",
            xlabel="worker" if below else "worker, in the same order",
        )
        for spine in ax.spines.values():
            spine.set_visible(False)

    def _color_bar(self, ax: "Axes", shades: Any, made: PairAgreement) -> None:
        """Draw the colour bar above the heat map, and beside it what is hatched, if anything is."""
        from matplotlib.patches import Patch
        from matplotlib.ticker import MaxNLocator

        theme, figure = current_theme(), ax.get_figure(root=True)
        assert figure is not None
        bar = figure.colorbar(shades, cax=ax.inset_axes((0, 1.02, 0.45, 0.025)), orientation="horizontal")
        bar.outline.set_visible(False)
        bar.ax.xaxis.set_ticks_position("top")
        bar.ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 2.5, 5, 10]))
        bar.ax.tick_params(length=0, labelsize=7)
        bar.ax.set_title("Cohen's kappa" if self.measure == "kappa" else "share of equal labels", fontsize=8, pad=14)
        if self.measure == "agreement":
            percent_axis(bar.ax, "x")
        if np.isnan(made.value).sum() == len(made.workers):  # the diagonal only
            return
        hatched = Patch(facecolor=theme.paper, edgecolor=theme.grid, hatch="//////", linewidth=0)
        label = f"fewer than {self.least:,} common tasks" if self.least > 1 else "no common task"
        place: Any = {"loc": "lower right", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.2}
        ax.legend([hatched], [label], fontsize=8, handlelength=1.4, **place)

    def _draw_means(self, ax: "Axes", made: PairAgreement) -> None:
        """Draw the mean of each worker, in the rows of the heat map."""
        n = len(made.workers)
        dots = ax.scatter(made.mean, np.arange(n), float(np.clip(600 / n, 8, 26)), color=SERIES[0], zorder=3)
        name_marks(dots, [f"{shown_name(w, 40)}: mean {m:.2f}" for w, m in zip(made.workers, made.mean, strict=True)])
        ax.axvline(float(np.nanmean(made.value)), color=current_theme().ink, linewidth=1, linestyle="--")
        ax.set(ylim=(n - 0.5, -0.5), xlabel="mean")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        if self.measure == "agreement":
            percent_axis(ax, "x")
        ax.locator_params(axis="x", nbins=2)
        ax.tick_params(labelsize=7)
        vertical_grid(ax)

    def _caption(self, made: PairAgreement) -> str:
        """Return the mean over pairs, the worker and the pair that stand out, and which workers are shown."""
        value, n_shared = made.pairs()
        n, mean = len(made.workers), made.mean
        few = f" of {made.n_crowd:,} (those who share {count_text(self.least, 'task')} with most others)"
        what = "Cohen's kappa" if self.measure == "kappa" else "Share of equal labels"
        shared = count_text(float(np.median(n_shared)), "common task")
        text = (
            f"{what} of {count_text(len(value), 'pair')} of {count_text(n, 'worker')}{few if n < made.n_crowd else ''}: "
            f"{self._text(value.mean())} in the mean, over {shared} in the median."
        )
        if len(value) < 2:
            return text
        first, second = made.closest_pair()
        worst, names = int(np.nanargmin(mean)), shown_names(made.workers)
        return (
            f"{text} {names[worst]} agrees least with the others ({self._text(mean[worst])}), {names[first]} and "
            f"{names[second]} agree most ({self._text(made.value[first, second])} on "
            f"{count_text(made.n_shared[first, second], 'task')}). Blocks are workers who answer alike; a pair that agrees far "
            "more than others on many tasks may copy, or always give the same label."
        )

    def _text(self, value: float) -> str:
        """Return an agreement as text."""
        return f"{value:.2f}" if self.measure == "kappa" else f"{value:.0%}"


def _pairs_height(made: PairAgreement) -> float:
    """Return the height of the heat map with its names, in inches."""
    return float(np.clip(0.2 * len(made.workers) + 1.2, 3.0, 6.6))


def _cell(x: int, y: int, **style: Any) -> Any:
    """Return the cell of column x in row y."""
    from matplotlib.patches import Rectangle

    return Rectangle((x - 0.5, y - 0.5), 1, 1, **style)
