"""Training: loss and measures by epoch, and what a net learns about single tasks."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from plurivox.charts._contract import Chart, ChartData, History
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.label_probability_by_epoch import LabelProbabilities, label_probabilities
from plurivox.charts._shared.line_end_labels import label_line_ends
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import hide_axes, panels, percent_axis, whole_number_ticks, write_in_place_of_data
from plurivox.charts._shared.runs_by_epoch import DEV, RunsByEpoch, is_higher_better, measured_columns, runs_by_epoch
from plurivox.charts._shared.theme import MARKERS, SERIES, current_theme, series_style
from plurivox.core.array_types import Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.method import option, split_at_commas_outside_brackets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_TRAININGS, MOST_MEASURES = 6, 3
N_MARKERS = 8  # along a line
LEGEND_COLUMNS = 5
MOST_POINTS = 50  # of a line that have a text under the pointer
HISTORY_HEIGHT, LEGEND_HEIGHT, TASKS_HEIGHT = 3.1, 0.25, 3.1  # inches


@dataclass(frozen=True)
class Training(Chart):
    """Training of nets: loss and dev measures by epoch, and the probability of the labels of single tasks.

    Above: the loss on the training examples and, dashed, on the dev tasks, then each measure on the dev tasks. A line is the
    mean over the runs of a training, its band reaches from the lowest to the highest run, and a star marks the best epoch of
    the mean. A run that stops early counts up to its last epoch. Epochs count from 0.

    Below, if logits were recorded: the probability that the net gives to the label of a task, for the tasks with the lowest
    mean probability over the epochs, those in which it varies most, or those named; the grey band is the middle half of all
    recorded tasks. The label of a task is its gold label, else the one with the most votes, else the net's own after the
    last epoch; give the data set too (plurivox plot training RUN DATASET) for the first two.
    Swayamdipta et al. (2020), https://doi.org/10.18653/v1/2020.emnlp-main.746
    """

    tasks: str = option("", "names of the tasks shown, comma-separated; none: as the options which and k say")
    which: Literal["lowest", "varying"] = option(
        "lowest", "tasks shown, by the probability of their label: lowest on average, or most varying"
    )
    k: int = option(6, "number of tasks shown", low=0, high=8)

    needs: ClassVar[tuple[str, ...]] = ("histories|dynamics",)
    may_use: ClassVar[tuple[str, ...]] = ("votes", "gold")

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a size for the panels of loss and measures, and for the tasks below."""
        n, with_tasks = len(_columns(data)), self._draws_tasks(data)
        height = (HISTORY_HEIGHT + LEGEND_HEIGHT) * bool(n) + TASKS_HEIGHT * with_tasks
        return max(min(3.1 * n + 0.4, 9.6), 7.6 if with_tasks else 5.0), height or 2.0

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw loss, measures and tasks, and return the caption."""
        columns, with_tasks = _columns(data), self._draws_tasks(data)
        if not columns and not with_tasks:
            write_in_place_of_data(ax, "no epochs")
            return "No epoch of the training is known, so nothing is drawn."
        heights = [HISTORY_HEIGHT] * bool(columns) + [TASKS_HEIGHT] * with_tasks
        places, texts = list(panels(ax, len(heights), 1, height_ratios=heights).ravel()), []
        if columns:
            texts.append(draw_histories(places.pop(0), data, columns))
        if with_tasks:
            texts.append(self._draw_tasks(places.pop(0), data))
        return " ".join(texts)

    def _draws_tasks(self, data: ChartData) -> bool:
        """Return whether there are epochs of recorded logits, and tasks are wanted."""
        return data.dynamics is not None and data.dynamics.n_epochs > 0 and (self.k > 0 or bool(self.tasks))

    def _draw_tasks(self, ax: "Axes", data: ChartData) -> str:
        """Draw the probability of the labels of the chosen tasks and return what is shown in words."""
        found = label_probabilities(data)
        if self.tasks:
            every = set(map(str, found.tasks.tolist()))
            shown = found.named([self.tasks] if self.tasks in every else split_at_commas_outside_brackets(self.tasks))
        else:
            shown = found.worst(self.k, self.which)
        if not len(shown):
            write_in_place_of_data(ax, "no task with recorded logits")
            return "No task has logits of all epochs."
        draw_probabilities(ax, found, shown)
        by_value = "the lowest on average" if self.which == "lowest" else "the most varying"
        text = _tasks_in_words(found, shown, "chosen by name" if self.tasks else by_value)
        return text + (" They are of the first training with recorded logits." if len(data.histories) > 1 else "")


def _columns(data: ChartData) -> list[str]:
    """Return the columns of the histories to draw: the loss, then the measures on dev tasks."""
    runs = [run for one in data.histories.values() for run in one if len(run.get("epoch", ()))]
    if not runs:
        return []
    with_loss = any("loss" in run or f"{DEV}loss" in run for run in runs)
    return ["loss"] * with_loss + measured_columns(runs)[:MOST_MEASURES]


# ---- loss and measures


def draw_histories(ax: "Axes", data: ChartData, columns: list[str]) -> str:
    """Draw a panel per column in the place of `ax` and return what is shown in words."""
    trainings = dict(list(data.histories.items())[:MOST_TRAININGS])
    bests: list[str] = []
    if handles := _legend_handles(trainings, columns):
        n_rows = -(-len(handles) // LEGEND_COLUMNS)
        above, ax = panels(ax, 2, 1, height_ratios=(LEGEND_HEIGHT * n_rows, HISTORY_HEIGHT)).ravel()
        hide_axes(above)
        above.legend(handles=handles, loc="center", ncols=LEGEND_COLUMNS, borderpad=0)
    for place, column in zip(panels(ax, 1, len(columns))[0], columns, strict=True):
        for part in ("loss", f"{DEV}loss") if column == "loss" else (column,):
            found = {name: runs_by_epoch(runs, part) for name, runs in trainings.items()}
            for position, (name, runs) in enumerate(found.items()):
                draw_runs(place, runs, position, part, name)
            if part.startswith(DEV):
                bests += _best_in_words(found, part)
        _label_axes(place, column)
    n_runs = [len(runs) for runs in trainings.values()]
    parts = [f"Loss and measures by epoch of {_trainings_in_words(n_runs)}"]
    if bests:
        parts.append(f"best (stars): {'; '.join(bests)}")
    text = f"{', '.join(parts)}."
    if max(n_runs) > 1:
        text += " Lines are means over runs, bands reach from the lowest to the highest run."
    if len(data.histories) > len(trainings):
        text += f" Shown are {len(trainings)} of {len(data.histories)} trainings."
    return text


def draw_runs(ax: "Axes", found: RunsByEpoch, position: int, column: str, training: str) -> None:
    """Draw the mean over the runs of one training with the band of its runs, and a star at the best epoch of a dev measure."""
    if not len(found.epoch):
        return
    color, is_dev_loss = SERIES[position], column == f"{DEV}loss"
    if found.n_runs > 1:
        ax.fill_between(found.epoch, found.low, found.high, color=color, alpha=0.15, linewidth=0)
    every = max(1, len(found.epoch) // N_MARKERS)
    line = {"color": color, "linestyle": "--" if is_dev_loss else "-", "linewidth": 1.6}
    ax.plot(found.epoch, found.mean, marker=MARKERS[position], markevery=every, markersize=4, **line)  # type: ignore[arg-type]
    _name_points(ax, found.epoch, found.mean, f"{shown_name(training, 60)}: {_title(column)}", color)
    best = found.best(higher_is_better=is_higher_better(column))
    if column.startswith(DEV) and best is not None:
        ax.scatter(
            found.epoch[best],
            found.mean[best],
            s=130,
            marker="*",
            color=color,
            edgecolors=current_theme().ink,
            zorder=4,
        )


def _name_points(ax: "Axes", epoch: Ints, value: Floats, what: str, color: str) -> None:
    """Add invisible points to a line that show their value under the pointer: all epochs, or some if they are many."""
    shown = slice(None, None, -(-len(epoch) // MOST_POINTS))
    points = ax.scatter(epoch[shown], value[shown], s=36, color=color, alpha=0)
    pairs = zip(epoch[shown].tolist(), value[shown].tolist(), strict=True)
    name_marks(points, [f"{what} {one:.4g} after epoch {i}" for i, one in pairs])


def _label_axes(ax: "Axes", column: str) -> None:
    """Set title and axes of a panel."""
    ax.set_title(_title(column))
    ax.set(xlabel="epoch", ylabel=f"{'higher' if is_higher_better(column) else 'lower'} is better")
    whole_number_ticks(ax, "x", 6)
    ax.grid()


def _title(column: str) -> str:
    """Return the name of a column of a history in words.

    >>> _title("dev_accuracy"), _title("loss")
    ('dev accuracy', 'loss')
    """
    return shown_name(column.replace("_", " "), 28)


def _legend_handles(trainings: Mapping[str, tuple[History, ...]], columns: list[str]) -> "list[Line2D]":
    """Return a legend of the trainings, if there are several, and of the two losses, if both are known."""
    from matplotlib.lines import Line2D

    handles = []
    if len(trainings) > 1:
        names = enumerate(shown_name(name, 28) for name in trainings)
        handles += [Line2D([], [], color=SERIES[i], marker=MARKERS[i], markersize=4, label=name) for i, name in names]
    has_dev_loss = any(f"{DEV}loss" in run for runs in trainings.values() for run in runs)
    if "loss" in columns and has_dev_loss:
        muted = current_theme().muted
        handles += [Line2D([], [], color=muted, label="training examples")]
        handles += [Line2D([], [], color=muted, linestyle="--", label="dev tasks")]
    return handles


def _best_in_words(found: Mapping[str, RunsByEpoch], column: str) -> list[str]:
    """Return the best mean of a dev measure and its epoch, for each training."""
    texts = []
    for name, runs in found.items():
        best = runs.best(higher_is_better=is_higher_better(column))
        if best is not None:
            whose = f" of {shown_name(name)}" if len(found) > 1 else ""
            texts.append(f"{_title(column)}{whose} {runs.mean[best]:.3f} after epoch {runs.epoch[best]}")
    return texts


def _trainings_in_words(n_runs: list[int]) -> str:
    """Return the number of trainings and runs as text.

    >>> _trainings_in_words([1]), _trainings_in_words([3]), _trainings_in_words([2, 1])
    ('one run', '3 runs', '2 trainings (2 and 1 runs)')
    """
    if len(n_runs) == 1:
        return "one run" if n_runs == [1] else f"{n_runs[0]} runs"
    return f"{len(n_runs)} trainings ({' and '.join(map(str, n_runs))} runs)"


# ---- dynamics of tasks


def draw_probabilities(ax: "Axes", found: LabelProbabilities, shown: Ints) -> None:
    """Draw the probability of the label by epoch: a line per task, and the middle half of all recorded tasks."""
    epoch = np.arange(len(found.p))
    quarter, three_quarters = np.quantile(found.p, [0.25, 0.75], axis=1)
    ax.fill_between(epoch, quarter, three_quarters, color=current_theme().muted, alpha=0.22, linewidth=0)
    for position, task in enumerate(shown.tolist()):
        style = series_style(position)
        ax.plot(epoch, found.p[:, task], markersize=3.5, markevery=max(1, len(epoch) // N_MARKERS), **style)
        text = f"{shown_name(found.tasks[task], 60)}: probability of {shown_name(found.label[task])}"
        _name_points(ax, epoch, found.p[:, task], text, style["color"])
    ax.set(xlabel="epoch", ylabel="probability of the label", ylim=(-0.03, 1.03))
    ax.set_title("single tasks; grey: the middle half of all")
    whole_number_ticks(ax, "x", 8)
    percent_axis(ax)
    ax.grid()
    ends = [(float(epoch[-1]), float(found.p[-1, task])) for task in shown.tolist()]
    names = [f"{shown_name(found.tasks[task], 22)}: {shown_name(found.label[task], 12)}" for task in shown.tolist()]
    colors = [SERIES[position] for position in range(len(shown))]
    label_line_ends(ax, ends, names, colors, panel_height=TASKS_HEIGHT - 0.8, length=36)


def _tasks_in_words(found: LabelProbabilities, shown: Ints, how: str) -> str:
    """Return which tasks are shown and what their label is."""
    n, mean = len(found.tasks), found.p.mean(0)
    text = (
        f"Probability of the label of {count_text(len(shown), 'task')} ({how}) of {n:,} recorded: mean over epochs "
        f"{mean[shown].min():.0%} to {mean[shown].max():.0%}, where the median of all is {np.median(mean):.0%}."
    )
    if found.n_by_net == n:
        return f"{text} The label is the net's own after the last epoch, as no labels are given."
    if found.n_by_net:
        return f"{text} {count_text(found.n_by_net, 'task')} without known label or votes: the net's own after the last epoch."
    return text
