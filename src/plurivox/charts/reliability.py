"""Reliability diagram: accuracy against confidence, with the expected calibration error."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import panels, percent_axis, write_in_place_of_data
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.core.count_text import count_text
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import Reliability as Bins
from plurivox.evaluate import labels_meet, reliability
from plurivox.evaluate.align_tasks_and_labels import align_rows, shared_task_positions
from plurivox.evaluate.bootstrap_over_tasks import percentile_interval, resample_measures
from plurivox.evaluate.measures.calibration import BINS, ece_task_sums
from plurivox.identify._shared.score_intervals import wilson_interval_95

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_METHODS = 6
COLUMNS = 3  # panels side by side
RESAMPLES = 1000
FEW = 10  # a bin with fewer tasks is hollow
COUNT_BARS = 30  # bars of the number of tasks, if the bins are not of equal width


@dataclass(frozen=True)
class Calibration:
    """The bins of one method, its expected calibration error with an interval, and what its probabilities estimate."""

    name: str
    bins: Bins
    counts: Bins  # bins of equal width, for the bars
    ece: float
    low: float
    high: float
    is_of_people: bool

    @property
    def excess(self) -> float:
        """Mean confidence minus accuracy, over all tasks: above 0 if the method is overconfident."""
        return float(np.nansum(self.bins.n * (self.bins.confidence - self.bins.accuracy)) / self.bins.n.sum())


@dataclass(frozen=True)
class Reliability(Chart):
    """Reliability diagram: how often the most probable label is right, against how probable it is said to be.

    Tasks with a gold label are put into bins by their confidence, the probability of their most probable label. A point is a
    bin at its mean confidence and its accuracy, with Wilson's 95% interval (https://doi.org/10.1080/01621459.1927.10502953);
    the bars below are its number of tasks. Points on the dashed line are calibrated, those below it overconfident. A task with
    several most probable labels is shared evenly among them.

    The expected calibration error, ECE = sum_b n_b / n |accuracy_b - confidence_b|, has a 95% bootstrap interval over tasks,
    less the bias of resampling. DeGroot and Fienberg (1983), https://doi.org/10.2307/2987588; Guo et al. (2017),
    https://doi.org/10.48550/arXiv.1706.04599; bins of equal numbers: Nguyen and O'Connor (2015),
    https://doi.org/10.48550/arXiv.1508.05154
    """

    bins: int = option(BINS, "number of bins of confidence", low=1, high=100)
    equal_counts: bool = option(False, "bins with equal numbers of tasks instead of equal widths")

    needs: ClassVar[tuple[str, ...]] = ("soft", "gold")
    may_use: ClassVar[tuple[str, ...]] = ("votes",)
    fitted_by: ClassVar[tuple[str, ...]] = ("vote-shares", "dawid-skene", "log-pool")
    figures: ClassVar[str] = "Guo et al. (2017), Figure 1"

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw one panel per method and return the caption."""
        found = self.calibrations(data)
        if not found:
            write_in_place_of_data(ax, "no task has soft labels and a gold label")
            return "No task has soft labels and a gold label with a label in common."
        low, columns = lowest_shown_confidence(found), min(len(found), COLUMNS)
        rows = -(-len(found) // columns)
        grid = panels(ax, 2 * rows, columns, height_ratios=[3.2, 1] * rows)
        for i in range(rows * columns):
            upper, lower = grid[2 * (i // columns), i % columns], grid[2 * (i // columns) + 1, i % columns]
            if i >= len(found):
                upper.set_axis_off()
                lower.set_axis_off()
                continue
            draw_points(upper, found[i], low)
            draw_counts(lower, found[i].counts)
            margin = 0.03 * (1 - low)
            upper.set(xlim=(low - margin, 1 + margin), ylabel="accuracy" if i % columns == 0 else "")
            lower.set(xlim=(low - margin, 1 + margin), ylabel="tasks" if i % columns == 0 else "")
        share_heights(grid[::2, :], 1.0)
        share_heights(grid[1::2, :])
        return self.caption(found, data)

    def calibrations(self, data: ChartData) -> list[Calibration]:
        """Return the bins and errors of the methods that share tasks with the gold labels, at most `MOST_METHODS`."""
        assert data.gold is not None
        comparable = {name: soft for name, soft in data.soft.items() if can_be_compared(soft, data.gold)}
        return [self.calibration(name, soft, data.gold) for name, soft in list(comparable.items())[:MOST_METHODS]]

    def calibration(self, name: str, soft: SoftLabels, gold: SoftLabels) -> Calibration:
        """Return the bins of one method, and its expected calibration error over the same bins."""
        rows = align_rows(soft, gold)
        size = max(len(rows[0]) // self.bins, 1) if self.equal_counts else None
        sums = ece_task_sums(*rows, "share", self.bins, size)
        drawn = resample_measures([sums], repeats=RESAMPLES)[:, 0]
        low, high = percentile_interval(sums.measure_over_all_tasks, drawn, biased=True)
        made = reliability(soft, gold, bins=self.bins, size=size, ties="share")
        counts = made if size is None else reliability(soft, gold, bins=COUNT_BARS, ties="share")
        return Calibration(name, made, counts, sums.measure_over_all_tasks, low, high, soft.estimates == "people")

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a width for up to three panels side by side, and a height for their rows."""
        n = min(max(len(data.soft), 1), MOST_METHODS)
        columns = min(n, COLUMNS)
        return (4.6, 6.6, 9.0)[columns - 1], 4.2 * (-(-n // columns))

    def caption(self, found: list[Calibration], data: ChartData) -> str:
        """Return how to read the diagram, the calibration errors, and which method is overconfident."""
        n = int(found[0].bins.n.sum())
        kind = f"{self.bins} bins of {'as many tasks each' if self.equal_counts else 'equal width'}"
        errors = "; ".join(
            f"{shown_name(one.name)} {one.ece:.3f} [{one.low:.3f}, {one.high:.3f}], {excess_text(one.excess)}"
            for one in found
        )
        text = (
            f"Accuracy against confidence over {count_text(n, 'task')} with a gold label, in {kind}, with 95% intervals; "
            "points below the dashed line are overconfident. Expected calibration error with its 95% interval: "
            f"{errors}."
        )
        if any((one.bins.n[one.bins.n > 0] < FEW).any() for one in found):
            text += f" Hollow points are bins with fewer than {FEW} tasks."
        if len(data.soft) > len(found):
            text += (
                f" Shown are {len(found)} of {len(data.soft)} methods, the first that share tasks with the gold labels."
            )
        if people := [shown_name(one.name) for one in found if one.is_of_people]:
            text += (
                f" {' and '.join(people)} estimate{'s' if len(people) == 1 else ''} what people say, not which label is "
                "right, so a distance from the line is not an error there."
            )
        return text


def can_be_compared(soft: SoftLabels, gold: SoftLabels) -> bool:
    """Return whether soft labels and gold labels have a task and a label in common."""
    if not (positions(gold.tasks, soft.tasks) >= 0).any():
        return False
    return labels_meet(soft, gold, *shared_task_positions(soft, gold))


def lowest_shown_confidence(found: list[Calibration]) -> float:
    """Return where the x axis begins: at the lower edge of the lowest bin with a task, at 0.9 at most."""
    lowest = [one.low[one.n > 0].min() for each in found for one in (each.bins, each.counts)]
    return min(float(min(lowest)), 0.9)


def excess_text(excess: float) -> str:
    """Return in words by how much the mean confidence is above or below the accuracy.

    >>> excess_text(0.034), excess_text(-0.1), excess_text(0.0001)
    ('overconfident by 0.034', 'underconfident by 0.100', 'as confident as accurate on average')
    """
    if abs(excess) < 0.0005:
        return "as confident as accurate on average"
    return f"{'over' if excess > 0 else 'under'}confident by {abs(excess):.3f}"


def draw_points(ax: "Axes", one: Calibration, low: float) -> None:
    """Draw the accuracy of every bin with its interval, the line of perfect calibration, and the calibration error."""
    theme, bins = current_theme(), one.bins
    used = np.flatnonzero(bins.n > 0)
    x, y, few = bins.confidence[used], bins.accuracy[used], bins.n[used] < FEW
    lows, highs = wilson_interval_95(y * bins.n[used], bins.n[used].astype(np.float64))
    ax.plot([low, 1], [low, 1], color=theme.muted, linewidth=1, linestyle="--")
    for chosen, strength in ((few, 0.45), (~few, 1.0)):
        ax.vlines(x[chosen], y[chosen], x[chosen], color=SERIES[1], linewidth=4, alpha=0.4 * strength)
        ax.vlines(x[chosen], lows[chosen], highs[chosen], color=SERIES[0], linewidth=1.2, alpha=strength)
    fill = [theme.paper if is_small else SERIES[0] for is_small in few.tolist()]
    points = ax.scatter(x, y, s=24, c=fill, edgecolors=SERIES[0], linewidths=1, zorder=3)
    name_marks(points, [bin_text(bins, k) for k in used.tolist()])
    ax.set_title(shown_name(one.name, 28), pad=17)
    interval = "" if np.isnan(one.low) else f" [{one.low:.3f}, {one.high:.3f}]"
    place: Any = {"xycoords": "axes fraction", "xytext": (0, 5), "textcoords": "offset points"}
    ax.annotate(f"ECE {one.ece:.3f}{interval}", (0, 1), fontsize=8, color=theme.muted, **place)
    ax.tick_params(labelbottom=False)
    ax.grid()
    percent_axis(ax, "y")
    percent_axis(ax, "x")


def draw_counts(ax: "Axes", bins: Bins) -> None:
    """Draw the number of tasks of every bin as bars over its range of confidence."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    used = np.flatnonzero(bins.n > 0)
    bars = ax.bar(bins.low[used], bins.n[used], 0.92 * (bins.high - bins.low)[used], align="edge", color=SERIES[0])
    name_marks(bars.patches, [bin_text(bins, k) for k in used.tolist()])
    ax.set_xlabel("confidence")
    ax.yaxis.set_major_locator(MaxNLocator(3, integer=True, min_n_ticks=1))
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.grid(axis="y")
    percent_axis(ax, "x")


def share_heights(axes: Any, top: float | None = None) -> None:
    """Give all axes the same limits of y: from the lowest value shown in any to the highest, or to just above `top`."""
    shown = [one for one in axes.ravel() if one.axison]
    low = min(one.get_ylim()[0] for one in shown)
    high = max(one.get_ylim()[1] for one in shown) if top is None else top + 0.03 * (top - low)
    for one in shown:
        one.set_ylim(low, high)


def bin_text(bins: Bins, k: int) -> str:
    """Return a bin as text: its range of confidence, number of tasks, mean confidence and accuracy."""
    return (
        f"confidence {bins.low[k]:.3f} to {bins.high[k]:.3f}: {count_text(bins.n[k], 'task')}, mean confidence "
        f"{bins.confidence[k]:.3f}, accuracy {bins.accuracy[k]:.3f}"
    )
