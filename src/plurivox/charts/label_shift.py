"""Two tables of labels on the tasks where they differ most, and the distribution of their distance over all tasks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.hardest_tasks import score_text
from plurivox.charts._shared.histogram_of_all_tasks import draw_histogram_of_all_tasks
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.label_tables import DISTANCE_TITLES, DistanceName, LabelTables, tables_to_compare
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import hide_axes, panels, percent_axis, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.task_pictures import draw_task, pixels_per_side, tasks_with_contents
from plurivox.charts._shared.theme import SERIES
from plurivox.charts._shared.votes_in_words import known_labels
from plurivox.core.array_types import Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.task_contents import TaskContents
from plurivox.evaluate import entropy_correlation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = (SERIES[0], SERIES[5])  # dark and light, so that they differ in print without colour
MOST_LABELS = 6  # of a task
NEGLIGIBLE = 0.005  # labels with less in both tables are not drawn
HISTOGRAM, LEGEND, CELL, MARGINS, TALLEST = 1.5, 0.25, 1.45, 0.6, 9.0  # heights in inches
COLUMNS = 3  # tasks beside each other


@dataclass(frozen=True)
class LabelShift(Chart):
    """Two tables of labels: how far apart they are, and the tasks on which they differ most.

    Distances of the labels p and q of a task: total-variation, 1/2 sum_k |p_k - q_k|, the probability that has to be moved;
    jensen-shannon, the square root of the Jensen-Shannon divergence in nats, at most 0.83; wasserstein, the area between the
    two distribution functions, for labels on a scale; sorted-wasserstein, the mean difference of the sorted probabilities,
    which Collins et al. (2022), https://doi.org/10.1609/hcomp.v10i1.21986, use; entropy-gain, the entropy of p minus that of
    q, for tasks on which the first table is less certain.

    The tables are the first two given; of two data sets with votes, the shares of these. A single table is compared with the
    shares of votes or, if it is just that, with the known labels. Tasks without a vote in one of them are left out.
    """

    k: int = option(6, "number of tasks", low=1, high=12)
    distance: DistanceName = option("total-variation", "distance by which tasks are sorted")

    needs: ClassVar[tuple[str, ...]] = ("soft",)
    may_use: ClassVar[tuple[str, ...]] = ("votes", "fits", "gold", "contents")
    fitted_by: ClassVar[tuple[str, ...]] = ("vote-shares", "dawid-skene")
    takes_several_datasets: ClassVar[bool] = True
    figures: ClassVar[str] = "Collins et al. (2022), Figures 1 to 4, 8 and 9"

    def check(self, data: ChartData) -> None:
        """Raise InputError if there are not two tables, or if their labels have no order but the distance needs one."""
        super().check(data)
        tables = tables_to_compare(data)
        if tables is None:
            raise InputError(
                "the chart label-shift needs two tables of labels: give the other one too, against= (--against FILE), or "
                "votes and two methods to fit, methods= (--methods LIST)"
            )
        if self.distance == "wasserstein" and not tables.has_scale():
            raise InputError(
                "the Wasserstein distance of the chart label-shift needs labels on a scale: read ordered labels "
                "(--ordered), or choose distance=total-variation"
            )

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a height for the panel of all tasks and the rows of tasks."""
        tables = tables_to_compare(data)
        if tables is None or not len(tables):
            return 8.0, 2.0
        order, _ = self._largest_first(tables)
        columns, _ = layout_of_tasks(data.contents, [str(task) for task in tables.left.tasks[order]])
        return 8.0, min(TALLEST, HISTOGRAM + LEGEND + MARGINS + CELL * -(-len(order) // columns))

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the histogram of the distance, below it the tasks with the largest, and return the caption."""
        tables = tables_to_compare(data)
        assert tables is not None
        if not len(tables):
            write_in_place_of_data(ax, "the tables share no task")
            names = " and ".join(shown_name(name, 40) for name in tables.names)
            return f"{names} have no task with labels in common, so nothing is drawn."
        order, distance = self._largest_first(tables)
        height = self.size(data)[1] - HISTOGRAM - LEGEND - MARGINS
        upper, middle, lower = panels(ax, 3, 1, height_ratios=(HISTOGRAM, LEGEND, height)).ravel()
        what, title = "gain" if self.distance == "entropy-gain" else "distance", DISTANCE_TITLES[self.distance]
        draw_histogram_of_all_tasks(upper, distance, distance[order], what=what, title=title, where="below")
        gold = known_labels(data.gold, tables.left.tasks[order])
        _name_tables(middle, tables, "labels in bold: gold" if any(gold) else "")
        hidden = _draw_tasks(lower, data, tables, order, gold, [f"{what} {score_text(one)}" for one in distance[order]])
        return _caption(tables, distance, self.distance, len(order), hidden)

    def _largest_first(self, tables: LabelTables) -> tuple[Ints, Floats]:
        """Return the positions of the `k` tasks with the largest distance, and the distances of all tasks."""
        distance = tables.distances(self.distance)
        return np.argsort(-distance.round(9), kind="stable")[: self.k], distance


def _draw_tasks(
    ax: "Axes", data: ChartData, tables: LabelTables, order: Ints, gold: list[str | None], distances: list[str]
) -> int:
    """Draw the tasks at these positions in the place of `ax`; return how many of their labels are left out."""
    tasks = [str(task) for task in tables.left.tasks[order]]
    columns, content = layout_of_tasks(data.contents, tasks)
    n_rows, side, hidden = -(-len(tasks) // columns), pixels_per_side(len(tasks)), 0
    widths = (content, 1.0) if content else (1.0,)
    cells = panels(ax, n_rows, columns * len(widths), width_ratios=widths * columns).reshape(-1, len(widths))
    for place in cells[len(tasks) :].ravel():
        hide_axes(place)
    for i, (task, cell) in enumerate(zip(tasks, cells, strict=False)):
        if content:
            draw_task(cell[0], data.contents, task, side, fontsize=7)
            cell[0].set_anchor("NW")
        hidden += _draw_labels(cell[-1], tables, int(order[i]), gold[i])
        cell[0].set_title(f"{shown_name(task, 15)}: {distances[i]}", fontsize=7.5)
        if i + columns >= len(tasks):
            cell[-1].set_xlabel("probability")
    return hidden


def layout_of_tasks(contents: TaskContents | None, tasks: list[str]) -> tuple[int, float]:
    """Return (tasks beside each other, width of an image or text per width of the bars): 0 without images and texts."""
    if not tasks_with_contents(contents, tasks):
        return COLUMNS, 0.0
    assert contents is not None
    n_images = sum(task in contents.images for task in tasks)
    return (COLUMNS, 1.0) if n_images * 2 >= len(tasks) else (2, 1.1)


def _draw_labels(ax: "Axes", tables: LabelTables, task: int, gold: str | None) -> int:
    """Draw the probabilities of the labels of one task in both tables, and return how many labels are left out."""
    labels, p, hidden = tables.of_task(task, MOST_LABELS, NEGLIGIBLE)
    rows = np.arange(len(labels))
    for k, name in enumerate(tables.names):
        bars = ax.barh(rows + 0.38 * (k - 0.5), p[k], 0.38, color=COLORS[k])
        texts = [f"{name}: {label} {share:.1%}" for label, share in zip(labels, p[k].tolist(), strict=True)]
        name_marks(bars.patches, texts)
    ax.set_yticks(rows, [shown_name(label, 14) for label in labels], fontsize=7)
    for tick, label in zip(ax.get_yticklabels(), labels, strict=True):
        tick.set_fontweight("bold" if label == gold else "normal")
    ax.set(xlim=(0, 1), ylim=(max(len(labels), 3) - 0.4, -0.6), xticks=(0, 0.5, 1))
    percent_axis(ax, "x")
    vertical_grid(ax)
    ax.tick_params(axis="y", length=0)
    return hidden


def _name_tables(ax: "Axes", tables: LabelTables, remark: str) -> None:
    """Write the names of the two tables with their colours, and a remark, in the place of `ax`."""
    from matplotlib.patches import Patch

    hide_axes(ax)
    handles = [Patch(color=color, label=shown_name(name, 40)) for name, color in zip(tables.names, COLORS, strict=True)]
    handles += [Patch(visible=False, label=remark)] if remark else []
    ax.legend(handles=handles, loc="center", ncols=3, borderpad=0)


def _caption(tables: LabelTables, distance: Floats, name: DistanceName, n_shown: int, hidden: int) -> str:
    """Return how far apart the tables are in words."""
    first, second = (shown_name(one, 40) for one in tables.names)
    entropies = [float(one.entropy().mean()) for one in (tables.left, tables.right)]
    title = DISTANCE_TITLES[name]
    of = f"from {second} to {first}" if name == "entropy-gain" else f"between {first} and {second}"
    parts = [
        f"{title[:1].upper()}{title[1:]} {of} on {count_text(len(tables), 'task')}: {distance.mean():.3f} on average, "
        f"{np.median(distance):.3f} in the median.",
        f"The most probable label is the same on {tables.same_label().mean():.0%}, and the mean entropy is "
        f"{entropies[0]:.2f} nats in {first}, {entropies[1]:.2f} in {second}{_correlation_text(tables)}.",
        f"Below {'is the task' if n_shown == 1 else f'are the {n_shown} tasks'} where it is largest.",
    ]
    if hidden:
        parts.append(f"{count_text(hidden, 'label')} with less weight {'is' if hidden == 1 else 'are'} not drawn.")
    return " ".join(parts)


def _correlation_text(tables: LabelTables) -> str:
    """Return the correlation of the entropies of both tables in words; "" if one table has the same entropy everywhere."""
    found = entropy_correlation(tables.left, tables.right)
    return f" (their correlation over tasks is {found:.2f})" if np.isfinite(found) else ""
