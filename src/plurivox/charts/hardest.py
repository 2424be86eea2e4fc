"""The tasks with the worst score: their images or texts, their votes, and where they lie among all tasks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plurivox.charts._contract import DATA_HINTS, Chart, ChartData
from plurivox.charts._shared.hardest_tasks import (
    HardTask,
    n_tied_with_last,
    score_name,
    score_text,
    score_title,
    scores_of_tasks,
    worst_tasks,
    worst_tasks_per_label,
)
from plurivox.charts._shared.histogram_of_all_tasks import draw_histogram_of_all_tasks
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import panels, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.task_cells import WIDTH, CellLayout, cell_rows, draw_cells, layout_of_cells
from plurivox.charts._shared.task_pictures import tasks_with_contents
from plurivox.charts._shared.theme import SERIES
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.results import Scores

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TALLEST = 9.0  # inches
HISTOGRAM, MARGINS, BAR = 1.5, 0.4, 0.24  # heights in inches: of the panel of all tasks, of the margins, of a bar
MOST_LABELS = 10  # rows with per_label


@dataclass(frozen=True)
class Hardest(Chart):
    """Tasks with the worst score: their images or texts, their score and their votes.

    The tasks are sorted by the score's badness, of equal ones those with more votes first. The panel below shows the score of
    all tasks and the range of those above. Without images and texts, bars show the scores of the worst tasks by name. With
    per-label there is one row for each label: the known label of a task or, if none is known, the label with the most votes.
    """

    k: int = option(12, "number of tasks: at most 24 images or 15 texts; with per-label of each label", low=1, high=40)
    per_label: bool = option(False, "one row of tasks for each label")
    by: str | None = option(None, "name of the score, if several are given; none: the first score of tasks")

    needs: ClassVar[tuple[str, ...]] = ("scores",)
    may_use: ClassVar[tuple[str, ...]] = ("votes", "gold", "contents")
    scored_by: ClassVar[tuple[str, ...]] = ("entropy",)
    figures: ClassVar[str] = "Lefort et al. (peerannot), Figures 3 and 4"

    def check(self, data: ChartData) -> None:
        """Raise InputError if there is no score of tasks."""
        super().check(data)
        if scores_of_tasks(data.scores, self.by) is None:
            raise InputError(f"the chart hardest needs scores of tasks, such as entropy: {DATA_HINTS['scores']}")

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a size for the cells or bars, and the panel of all tasks below."""
        rows, layout, _ = self._rows(data)
        if layout is not None:
            return WIDTH, min(TALLEST, HISTOGRAM + MARGINS + len(rows) * layout.row_height)
        n_bars = sum(len(row) for _, row in rows)
        return 6.8, min(TALLEST, HISTOGRAM + MARGINS + BAR * (1 + n_bars)) if n_bars else 2.0

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the cells or bars and the panel of all tasks, and return the caption."""
        scores = scores_of_tasks(data.scores, self.by)
        assert scores is not None
        rows, layout, n_left_out = self._rows(data)
        tasks = [task for _, row in rows for task in row]
        if not tasks:
            write_in_place_of_data(ax, "no task has a score")
            return f"No task has a score by {shown_name(scores.made_by)}, so nothing is drawn."
        height = len(rows) * layout.row_height if layout is not None else BAR * (1 + len(tasks))
        upper, below = panels(ax, 2, 1, height_ratios=(height, HISTOGRAM)).ravel()
        if layout is not None:
            draw_cells(upper, data.contents, rows, layout, score_name(scores))
        else:
            _draw_bars(upper, tasks, scores, [title for title, row in rows for _ in row])
        raw = scores.raw[np.isfinite(scores.raw)]
        shown = np.array([task.raw for task in tasks])
        draw_histogram_of_all_tasks(below, raw, shown, what="score", title=score_title(scores), where="above")
        return _caption(scores, tasks, [title for title, _ in rows] if self.per_label else [], n_left_out)

    def _rows(self, data: ChartData) -> tuple[list[tuple[str, list[HardTask]]], CellLayout | None, int]:
        """Return the rows of tasks with the label of each, their layout (None: bars), and how many labels are left out."""
        scores = scores_of_tasks(data.scores, self.by)
        if scores is None:
            return [], None, 0
        if self.per_label:
            per_label, n_left_out = worst_tasks_per_label(scores, self.k, data.votes, data.gold, MOST_LABELS)
            rows = list(per_label.items())
        else:
            rows, n_left_out = [("", worst_tasks(scores, self.k, data.votes, data.gold))], 0
        layout = None
        if names := tasks_with_contents(data.contents, (task.name for _, row in rows for task in row)):
            layout = layout_of_cells(data.contents, names, per_label=self.per_label)
            rows = cell_rows(rows, layout)
        return rows, layout, n_left_out


def _draw_bars(ax: "Axes", tasks: list[HardTask], scores: Scores, labels: list[str]) -> None:
    """Draw a bar for the score of each task, worst first, with its votes in words beside it."""
    rows, raw = np.arange(len(tasks)), np.array([task.raw for task in tasks])
    bars = ax.barh(rows, raw, 0.7, color=SERIES[0])
    name_marks(bars.patches, [f"{task.name}: {score_text(task.raw)}; {task.votes}" for task in tasks])
    if scores.low is not None:
        ends = np.array([(task.raw - task.low, task.high - task.raw) for task in tasks]).T
        ax.errorbar(raw, rows, xerr=np.maximum(np.nan_to_num(ends), 0), fmt="none", color=SERIES[1], capsize=2)
    for i, task in enumerate(tasks):
        known = f"; gold {shown_name(task.gold, 16)}" if task.gold is not None else ""
        words = shown_name(task.votes, 64) + known if task.votes else known.removeprefix("; ")
        ax.text(1.01, i, words, transform=ax.get_yaxis_transform(), va="center", fontsize=7)
    named = [f"{label}: {task.name}" if label else task.name for label, task in zip(labels, tasks, strict=True)]
    ax.set_yticks(rows, [shown_name(name) for name in named], fontsize=7)
    ax.set(ylim=(len(tasks) - 0.4, -0.6), xlabel=score_title(scores), ylabel="task")
    vertical_grid(ax)
    ax.tick_params(axis="y", length=0)


def _caption(scores: Scores, tasks: list[HardTask], labels: list[str], n_left_out: int) -> str:
    """Return what is shown in words."""
    known = scores.raw[~np.isnan(scores.raw)]
    raw = [task.raw for task in tasks]
    values = " to ".join(dict.fromkeys((score_text(min(raw)), score_text(max(raw)))))
    which = f"The worst {count_text(len(tasks), 'task')}" if len(tasks) != 1 else "The worst task"
    per_label = f" of {count_text(len(dict.fromkeys(labels)), 'label')}" if labels else ""
    parts = [
        f"{which}{per_label} by {score_title(scores)} of {count_text(len(known), 'task')}: {values}, where the median of all "
        f"tasks is {score_text(float(np.median(known)))}."
    ]
    if not labels and (tied := n_tied_with_last(scores, len(tasks))):
        parts.append(f"{count_text(tied, 'further task')} {'has' if tied == 1 else 'have'} the same score as the last.")
    if with_gold := [task for task in tasks if task.gold is not None and task.votes]:
        right = sum(task.gold_has_most_votes for task in with_gold)
        parts.append(f"The gold label has the most votes, alone or tied, on {right:,} of {len(with_gold):,}.")
    if n_left_out:
        parts.append(
            f"{count_text(n_left_out, 'label')} with fewer tasks {'is' if n_left_out == 1 else 'are'} left out."
        )
    return " ".join(parts)
