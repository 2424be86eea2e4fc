"""Posterior: soft labels of a few tasks with their intervals, and how uncertain those of all tasks are."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.entropy_histogram import draw_entropy_histogram, voted_on
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import panels, percent_axis, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.share_intervals import has_intervals
from plurivox.charts._shared.task_probabilities import MAX_LABELS, TaskProbabilities, task_probabilities
from plurivox.charts._shared.theme import MARKERS, SERIES, current_theme
from plurivox.core.array_types import Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.name_encoding import as_names
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_METHODS = 5
MAX_ROWS = 36


@dataclass(frozen=True)
class Posterior(Chart):
    """Soft labels of a few tasks with 95% intervals, and the entropy of the soft labels of all tasks.

    Left: the probabilities of the most probable labels of the most uncertain tasks, or of the tasks named. calibrated-shares
    and dirichlet-shares have the interval of their posterior, with the concentration c of a task that of Beta(c p, c (1 - p)),
    and vote-shares the Jeffreys interval of as many votes; other methods do not tell how certain their probabilities are.

    Right: the entropy H = -sum_k p_k log p_k of every task's soft label, in nats: 0 if one label is certain, log K if all K
    labels are equally probable. Tasks without votes are left out.
    """

    k: int = option(5, "number of tasks shown", low=1, high=30)
    tasks: str = option("", "names of the tasks shown, comma-separated; empty: as the option which says")
    which: Literal["uncertain", "certain", "spread"] = option(
        "uncertain",
        "tasks shown, by the entropy of the first soft labels: the most uncertain, the most certain, or evenly spread between",
    )

    needs: ClassVar[tuple[str, ...]] = ("soft",)
    may_use: ClassVar[tuple[str, ...]] = ("fits",)
    fitted_by: ClassVar[tuple[str, ...]] = ("calibrated-shares",)

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a height that grows with the number of labels shown."""
        return 9.0, float(np.clip(1.4 + 0.17 * _height(self._shown(data)), 3.2, 9))

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the tasks and the entropies, and return the caption."""
        soft = _first_methods(data)
        shown = self._shown(data)
        left, right = panels(ax, 1, 2, width_ratios=[1.25, 1])[0]
        pad = 6 if len(soft) == 1 else 8 + 13 * -(-len(soft) // 2)  # the legend of methods is below the titles
        left.set_title("Soft labels of single tasks", pad=pad)
        right.set_title("Entropy of the soft labels", pad=pad)
        if len(shown.tasks):
            _draw_tasks(left, shown, soft, data.fits)
        else:
            write_in_place_of_data(left, "no tasks with votes")
        entropies = draw_entropy_histogram(right, soft)
        return self._caption(data, shown, soft, entropies)

    def _shown(self, data: ChartData) -> TaskProbabilities:
        """Return the probabilities of the tasks shown, no more than there is space for."""
        soft = _first_methods(data)
        names = self._task_names(next(iter(soft.values())))
        found = task_probabilities(names, soft)
        fits = np.cumsum([len(one) + (not found.is_binary) for one in found.shown]) <= MAX_ROWS
        return found if fits.all() else task_probabilities(names[: max(int(fits.sum()), 1)], soft)

    def _task_names(self, soft: SoftLabels) -> Names:
        """Return the names of the tasks shown. Raise UnknownName for a task that has no soft label."""
        if self.tasks:
            every = set(map(str, soft.tasks.tolist()))
            wanted = [self.tasks] if self.tasks in every else split_at_commas_outside_brackets(self.tasks)
            names = as_names(wanted, "tasks")
            if unknown := [one for one in wanted if one not in every]:
                raise unknown_name_error("task", unknown[0], map(str, soft.tasks.tolist()))
            return names
        known = np.flatnonzero(voted_on(soft))
        order = known[np.argsort(-soft.entropy()[known].round(9), kind="stable")]
        if self.which == "certain":
            order = order[::-1]
        elif self.which == "spread" and len(order):
            order = order[np.unique(np.linspace(0, len(order) - 1, self.k).round().astype(int))]
        return soft.tasks[order[: self.k]]

    def _caption(
        self, data: ChartData, shown: TaskProbabilities, soft: Mapping[str, SoftLabels], entropies: Mapping[str, Any]
    ) -> str:
        """Return what the chart shows in words."""
        if not entropies:
            return "No task with votes has a soft label."
        first, n = next(iter(entropies)), len(next(iter(entropies.values())))
        which = self._tasks_in_words(len(shown.tasks), n, shown_name(first, 40))
        listed = "" if shown.is_binary else f", at most {MAX_LABELS} labels with 2% or more each"
        lines = [shown_name(name, 40) for name in soft if name in data.fits and has_intervals(data.fits[name])]
        intervals = f" Lines are 95% intervals of {_and(lines)}." if lines else ""
        kinds = _estimands_in_words(soft)
        means = ", ".join(f"{one.mean():.2f} nats by {shown_name(name, 40)}" for name, one in entropies.items())
        most = np.log(max(len(shown.labels), 1))
        left_out = len(data.soft) - len(soft)
        more = f" {count_text(left_out, 'further table')} of soft labels not shown." if left_out else ""
        return (
            f"Left: {which}{listed}.{intervals} {kinds} Right: the mean entropy is {means}; "
            f"0 is certain, and {most:.2f} the maximum for {count_text(len(shown.labels), 'label')}.{more}"
        )

    def _tasks_in_words(self, n_shown: int, n: int, method: str) -> str:
        """Return which tasks are shown, as words."""
        if self.tasks:
            return f"{count_text(n_shown, 'task')} chosen by name, of {n:,}"
        if self.which == "spread":
            return f"{n_shown:,} of {count_text(n, 'task')}, from the most to the least uncertain by {method}"
        return f"the {n_shown:,} most {self.which} of {count_text(n, 'task')} by {method}"


def _estimands_in_words(soft: Mapping[str, SoftLabels]) -> str:
    """Return a sentence or two on what the soft labels estimate: what people say, or which label is right."""
    found = []
    for kind, what in (
        ("people", "what share of people would give a label"),
        ("truth", "how probable it is that a label is right"),
    ):
        if names := [shown_name(name, 40) for name, one in soft.items() if one.estimates == kind]:
            found.append(f"{_and(names)} estimate{'s' if len(names) == 1 else ''} {what}")
    return f"{'; '.join(found)}."


def _and(names: list[str]) -> str:
    """Return names as a list in words.

    >>> _and(["a"]), _and(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _first_methods(data: ChartData) -> dict[str, SoftLabels]:
    """Return the soft labels that are drawn, by name."""
    return dict(list(data.soft.items())[:MAX_METHODS])


def _height(shown: TaskProbabilities) -> float:
    """Return the number of rows, headings and gaps of the tasks shown."""
    if shown.is_binary:
        return 1.4 * len(shown.tasks)
    return sum(len(one) + 1.5 for one in shown.shown)


def _draw_tasks(ax: Any, shown: TaskProbabilities, soft: Mapping[str, SoftLabels], fits: Mapping[str, Fit]) -> None:
    """Draw the probabilities of each task below each other, a mark per method, with intervals."""
    y = _places_and_names(ax, shown, next(iter(soft.values())))
    label = np.concatenate(shown.shown)
    task = np.repeat(np.arange(len(shown.tasks)), [len(one) for one in shown.shown])
    shifts = np.linspace(-0.2, 0.2, len(soft)) if len(soft) > 1 else [0.0]
    for method, (name, shift) in enumerate(zip(soft, shifts, strict=True)):
        p = shown.p[method, task, label]
        there = ~np.isnan(p)
        ends = [shown.intervals(method, n, fits.get(name)) for n in range(len(shown.tasks))]
        low, high = (np.concatenate([end[side] for end in ends]) for side in (0, 1))
        known = there & ~np.isnan(low)
        ax.hlines(y[known] + shift, low[known], high[known], color=SERIES[method], linewidth=1.5)
        points = ax.scatter(p[there], y[there] + shift, 24, color=SERIES[method], marker=MARKERS[method], zorder=3)
        name_marks(points, _texts(shown, task[there], label[there], p[there], low[there], high[there], name))
    ax.set(xlim=(-0.02, 1.02), xlabel=_axis_title(soft, shown_name(shown.labels[1]) if shown.is_binary else ""))
    percent_axis(ax, "x")
    vertical_grid(ax)
    ax.tick_params(axis="y", length=0)


def _axis_title(soft: Mapping[str, SoftLabels], label: str) -> str:
    """Return what the probabilities are: of the given label, or "" for the label of the row."""
    if all(one.estimates == "people" for one in soft.values()):
        return f"share of people who say {label}" if label else "share of people who give the label"
    if all(one.estimates == "truth" for one in soft.values()):
        return f"probability that {label} is right" if label else "probability that the label is right"
    return f"probability of {label}" if label else "probability"


def _places_and_names(ax: Any, shown: TaskProbabilities, soft: SoftLabels) -> Any:
    """Write the names of tasks and labels at the left, and return the (n,) places of the rows from the top down."""
    votes = None if soft.support is None else soft.support[np.maximum(shown.rows[0], 0)]
    n_votes = [""] * len(shown.tasks) if votes is None else [f" ({count_text(n, 'vote')})" for n in votes]
    if shown.is_binary:
        y = np.arange(len(shown.tasks)) * 1.0
        ax.set_yticks(y, [shown_name(task) + n for task, n in zip(shown.tasks.tolist(), n_votes, strict=True)])
        ax.set(ylim=(len(y) - 0.4, -0.6), ylabel="task")
        return y
    places, top = [], 0.0
    for n, task in enumerate(shown.tasks.tolist()):
        ax.text(0, top, shown_name(task, 32) + n_votes[n], fontsize=8, fontweight="bold", va="center")
        if n:
            ax.axhline(top - 0.75, color=current_theme().grid, linewidth=0.8)
        places += [top + 1 + row for row in range(len(shown.shown[n]))]
        top += len(shown.shown[n]) + 1.5
    names = [shown_name(shown.labels[one]) for one in np.concatenate(shown.shown)]
    ax.set_yticks(places, names)
    ax.set(ylim=(top - 0.85, -0.7), ylabel="label")
    return np.array(places)


def _texts(shown: TaskProbabilities, task: Any, label: Any, p: Any, low: Any, high: Any, method: str) -> list[str]:
    """Return what is shown when the pointer is over each mark."""
    texts = []
    for n, k, share, start, end in zip(task, label, p, low, high, strict=True):
        interval = "" if np.isnan(start) else f", 95% interval {start:.1%} to {end:.1%}"
        texts.append(f"{shown.tasks[n]}, {shown.labels[k]}: {share:.1%}{interval} ({method})")
    return texts
