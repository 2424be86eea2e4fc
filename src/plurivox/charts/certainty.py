"""Certainty: how sure workers say they are, by the number of labels that they leave possible."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.entered_percents import EnteredCertainty, entered_certainty
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import (
    horizontal_grid,
    panels,
    percent_axis,
    whole_number_ticks,
    write_in_place_of_data,
)
from plurivox.charts._shared.theme import SERIES, current_theme, sequential_colormap
from plurivox.core.answers import Answers
from plurivox.core.array_types import Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.name_encoding import positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable

MAX_COLUMNS = 12
STEP = 0.05  # height of a bar: people enter multiples of five
HALF_WIDTH = 0.45  # of the widest bar of each column


@dataclass(frozen=True)
class Columns:
    """Columns of the chart: intervals of whole numbers of possible labels."""

    first: Ints  # (n_columns,) the smallest number of each column
    last: Ints
    of: Ints  # (n_answers,) the column of each answer

    @property
    def names(self) -> list[str]:
        """The numbers of each column as text, such as "3" or "4 to 7"."""
        pairs = zip(self.first.tolist(), self.last.tolist(), strict=True)
        return [f"{a:,}" if a == b else f"{a:,}\nto {b:,}" for a, b in pairs]


@dataclass(frozen=True)
class Certainty(Chart):
    """Certainty: the probability of the top label as entered, by the number of labels left possible.

    Top: how many answers leave how many labels possible. Below: for each number, how the answers spread over the probability
    of their most probable label; the bars of a column are shares of its answers, the widest as wide as the column, and a line
    marks its median. The probability is the percent entered, divided by the sum of the percents of the answer if that is above
    100. Possible are all labels that are not ruled out, or those named or marked as possible where none can be ruled out.

    With soft labels of other people (against), the colour of a bar is the mean entropy of the tasks of its answers. The paper
    draws one point per task, the mean of the soft labels called T2 Clamp, in which labels left open get a share.

    Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986
    """

    needs: ClassVar[tuple[str, ...]] = ("answers",)
    may_use: ClassVar[tuple[str, ...]] = ("soft",)
    figures: ClassVar[str] = "Collins et al. (2022), Figure 5"

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a lower figure if there are no percents."""
        assert data.answers is not None
        return 6.4, 4.6 if np.isfinite(entered_certainty(data.answers).top).any() else 3.4

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the numbers of possible labels and the probabilities, and return the caption."""
        assert data.answers is not None
        found = entered_certainty(data.answers)
        if not len(found.answer):
            write_in_place_of_data(ax, "no answers")
            return "No answer names a label."
        columns = columns_of(found.n_possible)
        if not np.isfinite(found.top).any():
            _draw_numbers(ax, columns)
            _name_columns(ax, columns)
            return f"{_possible_in_words(found, len(data.answers.labels))} The answers contain no percents."
        above, below = panels(ax, 2, 1, height_ratios=[1, 3], hspace=0.03)[:, 0]
        _draw_numbers(above, columns)
        above.set_xticks([])
        name, entropy = _entropy_of_tasks(data.answers, data.soft)
        _draw_spread(below, found, columns, None if entropy is None else entropy[found.answer], (above, below), name)
        _name_columns(below, columns)
        return _caption(found, len(data.answers.labels), name)


def columns_of(n_possible: Ints) -> Columns:
    """Return a column per number of possible labels, or at most 12 columns of equally many numbers.

    >>> columns_of(np.array([1, 3, 2])).names, columns_of(np.array([1, 40])).names[:2]
    (['1', '2', '3'], ['1\\nto 4', '5\\nto 8'])
    """
    low, high = int(n_possible.min()), int(n_possible.max())
    width = -(-(high - low + 1) // MAX_COLUMNS)
    first = np.arange(low, high + 1, width)
    return Columns(first, np.minimum(first + width - 1, high), (n_possible - low) // width)


def _draw_numbers(ax: Any, columns: Columns) -> None:
    """Draw how many answers are in each column."""
    heights = np.bincount(columns.of, minlength=len(columns.first))
    bars = ax.bar(np.arange(len(heights)), heights, 0.7, color=SERIES[0])
    names = [name.replace("\n", " ") for name in columns.names]
    name_marks(
        bars.patches, [f"{name} possible: {count_text(n, 'answer')}" for name, n in zip(names, heights, strict=True)]
    )
    ax.bar_label(bars, [f"{n:,}" for n in heights.tolist()], padding=2, fontsize=7.5)
    ax.margins(y=0.18)
    ax.set(xlim=_ends(columns), ylabel="answers")
    whole_number_ticks(ax, "y", 3)
    horizontal_grid(ax)


def _name_columns(ax: Any, columns: Columns) -> None:
    """Write the numbers of possible labels below the columns."""
    ax.set_xticks(np.arange(len(columns.first)), columns.names)
    ax.tick_params(axis="x", length=0)
    ax.set(xlim=_ends(columns), xlabel="number of possible labels in the answer")


def _ends(columns: Columns) -> tuple[float, float]:
    """Return the ends of the x axis, wide enough that one column is not as broad as the chart."""
    n = len(columns.first)
    margin = max(0.6, (5 - n) / 2 + 0.1)
    return -margin, n - 1 + margin


def _draw_spread(
    ax: Any, found: EnteredCertainty, columns: Columns, entropy: Floats | None, axes: tuple[Any, ...], name: str
) -> None:
    """Draw, for each column, the shares of its answers in steps of the probability, and its median."""
    n, known = len(columns.first), np.isfinite(found.top)
    n_steps = round(1 / STEP) + 1
    step = np.rint(found.top[known] / STEP).astype(np.int64)
    cell = columns.of[known] * n_steps + step
    counts = np.bincount(cell, minlength=n * n_steps).reshape(n, n_steps)
    share = counts / np.maximum(counts.sum(1, keepdims=True), 1)
    column, row = np.nonzero(counts)
    half = HALF_WIDTH * share[column, row] / share.max(1)[column]
    left, width = column - half, np.maximum(2 * half, 0.02)
    style: dict[str, Any] = {"color": SERIES[0]}
    if entropy is not None:
        mean = np.bincount(cell, entropy[known], minlength=n * n_steps) / np.maximum(counts.ravel(), 1)
        colors = _color_scale(ax, axes, mean.reshape(n, n_steps), counts, name)
        shades = colors.to_rgba(mean[column * n_steps + row])
        style = {"color": shades, "edgecolor": current_theme().muted, "linewidth": 0.4}
    bars = ax.barh(row * STEP, width, 0.9 * STEP, left=left, **style)
    texts = zip(column, row, counts[column, row], share[column, row], strict=True)
    names = [one.replace("\n", " ") for one in columns.names]
    name_marks(
        bars.patches,
        [f"{names[c]} possible, {r * STEP:.0%}: {count_text(k, 'answer')} ({s:.0%})" for c, r, k, s in texts],
    )
    medians = [np.median(found.top[known & (columns.of == c)]) if counts[c].any() else np.nan for c in range(n)]
    ax.hlines(medians, np.arange(n) - 0.47, np.arange(n) + 0.47, color=current_theme().ink, linewidth=1.4)
    ax.set(ylim=(STEP * (row.min() - 0.9), 1.04), ylabel="probability of the top label")
    percent_axis(ax, "y")
    horizontal_grid(ax)


def _color_scale(ax: Any, axes: tuple[Any, ...], mean: Floats, counts: Ints, name: str) -> "ScalarMappable":
    """Draw the scale of mean entropies, up to the largest of bars with five answers or more, and return it."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    often = mean[counts >= min(5, counts.max())]
    colors = ScalarMappable(Normalize(0, max(float(often.max()), 1e-9)), sequential_colormap())
    bar = ax.figure.colorbar(colors, ax=list(axes), pad=0.02, aspect=30)
    bar.set_label(f"mean entropy in {shown_name(name)} (nats)")
    bar.outline.set_visible(False)
    return colors


def _entropy_of_tasks(answers: Answers, soft: Any) -> tuple[str, Floats | None]:
    """Return (name, (n_answers,) entropy of the task of each answer) of the first soft labels that have all tasks."""
    for name, one in soft.items():
        place = positions(one.tasks, answers.tasks)
        if len(place) and (place >= 0).all():
            return name, np.asarray(one.entropy())[place][answers.task]
    return "", None


def _possible_in_words(found: EnteredCertainty, n_labels: int) -> str:
    """Return a sentence or two on the numbers of possible labels."""
    one = float((found.n_possible == 1).mean())
    return (
        f"{count_text(len(found.answer), 'answer')} leave {np.median(found.n_possible):,.4g} of "
        f"{count_text(n_labels, 'label')} possible in the median ({found.counts}), and {one:.0%} of them only one."
    )


def _caption(found: EnteredCertainty, n_labels: int, name: str) -> str:
    """Return what the chart shows in words."""
    known = np.isfinite(found.top)
    sure = float((found.top[known] >= 1).mean())
    without = int((~known).sum())
    text = (
        f"{_possible_in_words(found, n_labels)} The top label gets {np.median(found.top[known]):.0%} in the median, and 100% "
        f"in {sure:.0%} of the answers. Below, the width of a bar is its share of the answers of its column; lines are medians "
        "of the columns."
    )
    if without:
        verb = "is" if without == 1 else "are"
        text += f" {count_text(without, 'answer')} without a usable percent {verb} not in the lower bars."
    if name:
        text += f" Colours: the mean entropy, in {shown_name(name)}, of the tasks of these answers."
    return text
