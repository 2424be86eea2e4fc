"""A grid of tasks: each cell shows the image or the text of a task, its score, its votes and its known label."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from plurivox.charts._shared.hardest_tasks import HardTask, score_text
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import hide_axes, panels
from plurivox.charts._shared.task_pictures import draw_task, pixels_per_side
from plurivox.charts._shared.theme import current_theme
from plurivox.core.task_contents import TaskContents

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WIDTH = 8.0  # inches, of a figure
LABEL_COLUMN = 0.2  # width of the column of labels in inches
TITLE = 0.25  # height of the name of a task with the gap between rows, in inches
LETTER_WIDTH = 0.66  # of bold type, per font size


@dataclass(frozen=True)
class CellLayout:
    """Number of columns and cells of a grid, and where in a cell the words on a task stand."""

    columns: int
    most_cells: int
    content: float  # height of the image or text in inches
    words: float  # height of the words, in inches; width if they stand on the right
    words_stand: Literal["above", "below", "right"]
    with_labels: bool = False  # a row for each label, which is named at its left

    @property
    def row_height(self) -> float:
        """Height of a row of cells, in inches."""
        return self.content + (0.0 if self.words_stand == "right" else self.words) + TITLE


def layout_of_cells(contents: TaskContents | None, names: list[str], *, per_label: bool) -> CellLayout:
    """Return the layout for tasks of which these have contents: small square cells for images, wide ones for texts."""
    n_images = sum(contents is not None and name in contents.images for name in names)
    if n_images * 2 < len(names):
        return CellLayout(3, 15, 0.72, 0.3, "above", with_labels=per_label)
    if per_label:
        return CellLayout(5, 60, 0.8, 0.72, "right", with_labels=True)
    return CellLayout(6, 24, 1.15, 0.62, "below")


def cell_rows(rows: list[tuple[str, list[HardTask]]], layout: CellLayout) -> list[tuple[str, list[HardTask]]]:
    """Return the tasks in rows of the grid: with labels one row for each, else as many rows as are needed."""
    if layout.with_labels:
        return [(label, row[: layout.columns]) for label, row in rows]
    tasks = [task for _, row in rows for task in row][: layout.most_cells]
    return [("", tasks[i : i + layout.columns]) for i in range(0, len(tasks), layout.columns)]


def draw_cells(
    ax: "Axes",
    contents: TaskContents | None,
    rows: list[tuple[str, list[HardTask]]],
    layout: CellLayout,
    score: str,
) -> None:
    """Draw the grid in the place of `ax`: one pair of axes per task, which holds its content and the words on it."""
    first = int(layout.with_labels)
    cell_width = (WIDTH - first * LABEL_COLUMN) / layout.columns
    widths = [LABEL_COLUMN] * first + [cell_width] * layout.columns
    places = panels(ax, len(rows), len(widths), width_ratios=widths)
    for place in places.ravel():
        hide_axes(place)
    side = pixels_per_side(sum(len(row) for _, row in rows))
    for i, (label, row) in enumerate(rows):
        if first:
            places[i, 0].text(
                0.5, 0.5, shown_name(label, 14), rotation=90, ha="center", va="center", fontsize=7, fontweight="bold"
            )
        for j, task in enumerate(row, start=first):
            _draw_cell(places[i, j], contents, task, layout, score, side, cell_width)


def _draw_cell(
    cell: "Axes",
    contents: TaskContents | None,
    task: HardTask,
    layout: CellLayout,
    score: str,
    side: int,
    width: float,
) -> None:
    """Draw one task: its name, its content, and the words on it above, below or at the right."""
    longest = max(8, int(width * 72 / (7 * LETTER_WIDTH)))
    cell.set_title(shown_name(task.name, longest), fontsize=7, pad=2)
    share = layout.words / (width if layout.words_stand == "right" else layout.content + layout.words)
    boxes = {
        "above": ((0, 0, 1, 1 - share), (0, 1 - share, 1, share)),
        "below": ((0, share, 1, 1 - share), (0, 0, 1, share * 0.94)),
        "right": ((0, 0, 1 - share, 1), (1 - share * 0.95, 0, share * 0.95, 1)),
    }
    from plurivox.charts._shared.wrapped_text import write_in_axes  # needs matplotlib

    content, words = (cell.inset_axes(box) for box in boxes[layout.words_stand])
    content.set_anchor("NW")
    draw_task(content, contents, task.name, side, fontsize=7.5)
    write_in_axes(words, words_on_task(task, score, layout), fontsize=6.5, color=current_theme().muted)


def words_on_task(task: HardTask, score: str, layout: CellLayout) -> str:
    """Return the score of a task, its known label unless the row names it, and its votes, on lines of their own if narrow."""
    parts = [f"{score} {score_text(task.raw)}" if layout.words_stand != "right" else score_text(task.raw)]
    if task.gold is not None and not layout.with_labels:
        parts.append(f"gold: {shown_name(task.gold)}")
    if task.votes and layout.words_stand == "right":
        return "\n".join([*parts, *(f"{one}," for one in task.votes.split(", "))]).removesuffix(",")
    if layout.words_stand == "above":
        return "; ".join([*parts, *([f"votes {task.votes}"] if task.votes else [])])
    return "\n".join([*parts, *([task.votes] if task.votes else [])])
