"""One task, or a few: its image or text, its votes, and the soft labels that several methods give it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import panels, percent_axis, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.task_pictures import draw_task, pixels_per_side, tasks_with_contents
from plurivox.charts._shared.theme import SERIES, current_theme, series_style
from plurivox.charts._shared.votes_in_words import known_labels, number_text, votes_in_words, votes_per_label
from plurivox.core.array_types import Floats, Ints, Names
from plurivox.core.count_text import count_text
from plurivox.core.errors import unknown_name_error
from plurivox.core.method import option
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LABELS, MOST_METHODS = 10, 6
NEGLIGIBLE = 0.03  # a label without votes is drawn if a method gives it at least this probability
LEAST_ROWS = 3  # space for as many labels, so that the bars of two are not broad
FEW_VOTES = 5  # with at least this many votes, or the median number if it is lower, a task may be shown by default


@dataclass(frozen=True)
class TaskVotes(Chart):
    """Votes and soft labels of one task, beside its image or text.

    Bars are the shares of the task's votes, marks the probabilities that methods give to its labels. By default it is the task
    on which people disagree most: the highest entropy of the shares of votes, among tasks with at least five votes (or the
    median number, if that is lower) and, if there are images or texts, among those that have one. Labels without votes are
    drawn if a method gives them a probability of 3% or more.
    """

    task_name: str | None = option(None, "name of the task; none: the tasks on which people disagree most")
    k: int = option(1, "number of tasks, if none is named", low=1, high=5)

    may_use: ClassVar[tuple[str, ...]] = ("soft", "fits", "gold", "contents")
    fitted_by: ClassVar[tuple[str, ...]] = ("wawa", "dawid-skene", "glad")
    figures: ClassVar[str] = "Lefort et al. (peerannot), Figure 5; Uma et al. (2020), Figure 1"

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a width for the contents if there are any, and a height that grows with tasks and labels."""
        tasks, _ = self._tasks(data)
        n_labels = max(LEAST_ROWS, self._n_labels(data, tasks))
        lowest = 1.7 if tasks_with_contents(data.contents, tasks) else 1.0
        return 7.2, min(9.0, 0.4 + max(1, len(tasks)) * max(lowest, 0.7 + 0.23 * n_labels))

    def _n_labels(self, data: ChartData, tasks: Names) -> int:
        """Return the largest number of labels drawn for one of the tasks."""
        if data.votes is None or not len(tasks):
            return 0
        votes, gold = data.votes.on(tasks), known_labels(data.gold, tasks)
        methods = _soft_labels_to_draw(data)
        found = (labels_of_task(votes, i, methods, gold[i]) for i in range(len(tasks)))
        return max(len(one.labels) for one in found)

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the tasks one below the other and return the caption."""
        assert data.votes is not None
        tasks, chosen_among = self._tasks(data)
        if not len(tasks):
            write_in_place_of_data(ax, "no votes")
            return "No task has votes, so nothing is drawn."
        votes = data.votes.on(tasks)
        methods = _soft_labels_to_draw(data)
        gold = known_labels(data.gold, tasks)
        with_contents = bool(tasks_with_contents(data.contents, tasks))
        columns = {"width_ratios": (1, 1.9)} if with_contents else {}
        places = panels(ax, len(tasks), 2 if with_contents else 1, **columns)
        hidden = 0
        for i, task in enumerate(tasks):
            if with_contents:
                draw_task(places[i, 0], data.contents, task, pixels_per_side(len(tasks)))
            hidden += draw_labels_of_task(places[i, -1], votes, i, methods, gold[i], is_first=i == 0)
        largest = max(place.dataLim.x1 for place in places[:, -1])
        for place in places[:, -1]:
            place.set_xlim(0, min(1.0, 1.08 * largest))
        marks = "share of votes (bars), probability of the label (marks)"
        places[-1, -1].set_xlabel(marks if methods else "share of votes")
        return _caption(votes, gold, methods, chosen_among if self.task_name is None else "", hidden)

    def _tasks(self, data: ChartData) -> tuple[Names, str]:
        """Return the tasks to draw and, if they were not named, from which tasks they were chosen in words."""
        if data.votes is None:
            return as_names([]), ""
        if self.task_name is not None:
            place = positions(data.votes.tasks, as_names([self.task_name]))
            if place[0] < 0:
                raise unknown_name_error(
                    "task called", self.task_name, (str(name) for name in data.votes.tasks[:10_000])
                )
            return data.votes.tasks[place], ""
        return most_disputed_tasks(data, self.k)


def most_disputed_tasks(data: ChartData, k: int) -> tuple[Names, str]:
    """Return the k tasks with the highest entropy of votes, ties by more votes, and from which tasks they were chosen."""
    assert data.votes is not None
    votes, support = data.votes, data.votes.support
    voted = support > 0
    if not voted.any():
        return as_names([]), ""
    least = min(FEW_VOTES, float(np.median(support[voted])))
    may = support >= least
    described = f"{count_text(int(may.sum()), 'task')} with at least {count_text(least, 'vote')}"
    with_contents = np.isin(np.array([str(t) for t in votes.tasks]), tasks_with_contents(data.contents, votes.tasks))
    if (may & with_contents).any():
        may &= with_contents
        described = (
            f"{count_text(int(may.sum()), 'task')} with at least {count_text(least, 'vote')} and an image or text"
        )
    code = np.flatnonzero(may)
    entropy = SoftLabels.from_vote_shares(votes.on(votes.tasks[code])).entropy().round(9)
    order = np.lexsort((-support[code], -entropy))
    return votes.tasks[code[order[:k]]], described


def _soft_labels_to_draw(data: ChartData) -> dict[str, SoftLabels]:
    """Return the first soft labels, without those of vote-shares, which the bars show."""
    found = {name: soft for name, soft in data.soft.items() if name != "vote-shares"}
    return dict(list(found.items())[:MOST_METHODS])


def draw_labels_of_task(
    ax: "Axes", votes: Votes, task: int, methods: dict[str, SoftLabels], gold: str | None, *, is_first: bool
) -> int:
    """Draw the labels of one task, bars of votes and marks of methods; return how many labels are left out."""
    found = labels_of_task(votes, task, methods, gold)
    labels, probabilities, counts = found.labels, found.probabilities, found.counts
    total = max(sum(counts.values()), 1e-12)
    share = np.array([counts.get(code, 0.0) / total for code in labels])
    rows = np.arange(len(labels))
    bars = ax.barh(rows, share, 0.72, color=SERIES[0], alpha=0.7, label="votes")
    names = [shown_name(votes.labels[code]) for code in labels]
    texts = [
        f"{names[i]}: {number_text(counts.get(code, 0))} of {number_text(total)} votes" for i, code in enumerate(labels)
    ]
    name_marks(bars.patches, texts)
    _draw_methods(ax, names, [(name, p[labels]) for name, p in probabilities.items()], list(methods))
    _label_axes(ax, names, [str(votes.labels[code]) == gold for code in labels])
    title = f"{shown_name(votes.tasks[task], 40)}: {count_text(votes.support[task], 'vote')}"
    handles: list[Any] = [bars, *(one for one in ax.get_legend_handles_labels()[0] if one.get_label() != "votes")]
    if is_first and probabilities:
        ax.legend(
            handles=handles,
            loc="lower left",
            bbox_to_anchor=(-0.01, 1.0),
            ncols=min(len(handles), 4),
            title=title,
            alignment="left",
            title_fontproperties={"weight": "bold", "size": 10},
            columnspacing=1.2,
            handletextpad=0.4,
            borderpad=0,
        )
    else:
        ax.set_title(title)
    return found.n_hidden


class LabelsOfTask(NamedTuple):
    """The labels of one task to draw, their votes, and the probabilities of all labels by method."""

    labels: Ints  # (n,) codes
    counts: dict[int, float]  # votes by label code
    probabilities: dict[str, Floats]  # (n_labels of the votes,) by method
    n_hidden: int  # labels with little weight that are left out


def labels_of_task(votes: Votes, task: int, methods: dict[str, SoftLabels], gold: str | None) -> LabelsOfTask:
    """Return the labels of the task with this code to draw, with their votes and probabilities."""
    counts = votes_per_label(votes, task)
    probabilities = {
        name: p for name, soft in methods.items() if (p := probabilities_on(votes, task, soft)) is not None
    }
    labels, n_hidden = labels_to_draw(votes, counts, probabilities, gold)
    return LabelsOfTask(labels, counts, probabilities, n_hidden)


def probabilities_on(votes: Votes, task: int, soft: SoftLabels) -> Floats | None:
    """Return (n_labels of the votes,) the probabilities of a task's labels; None if it has no soft label."""
    (place,) = positions(soft.tasks, votes.tasks[task : task + 1])
    if place < 0:
        return None
    row = next(soft.on(soft.tasks[place : place + 1]).rows())[1][0]
    where = positions(soft.labels, votes.labels)
    return np.where(where >= 0, row[np.maximum(where, 0)], 0.0)


def labels_to_draw(
    votes: Votes, counts: dict[int, float], probabilities: dict[str, Floats], gold: str | None
) -> tuple[Ints, int]:
    """Return the codes of the labels to draw, most votes first (in their order if they have one), and how many are left out."""
    share = np.zeros(votes.n_labels)
    share[list(counts)] = list(counts.values())
    share /= max(share.sum(), 1e-12)
    largest = np.max([np.zeros(votes.n_labels), *probabilities.values()], axis=0)
    is_gold = np.array([str(label) == gold for label in votes.labels])
    wanted = np.flatnonzero((share > 0) | (largest >= NEGLIGIBLE) | is_gold)
    mean = np.mean([*probabilities.values()], axis=0) if probabilities else np.zeros(votes.n_labels)
    by_votes = wanted[np.lexsort((-mean[wanted], -share[wanted], ~is_gold[wanted] & (share[wanted] == 0)))]
    by_weight = by_votes[np.argsort(-np.maximum(share, largest)[by_votes], kind="stable")]
    kept = by_weight[:MOST_LABELS]
    shown = by_votes[np.isin(by_votes, kept)]
    shown = shown[np.lexsort((-mean[shown], -share[shown]))]
    return (shown if votes.scale is None else shown[np.argsort(votes.scale[shown])]), len(wanted) - len(kept)


def _draw_methods(ax: "Axes", names: list[str], methods: list[tuple[str, Floats]], all_methods: list[str]) -> None:
    """Draw one mark per label for each method, side by side within the bar so that equal values remain visible."""
    n = max(len(all_methods), 1)
    for name, p in methods:
        position = all_methods.index(name)
        style: dict[str, Any] = series_style(position + 1)
        offset = 0.66 * ((position + 0.5) / n - 0.5)
        marks = ax.scatter(
            p,
            np.arange(len(p)) + offset,
            s=26,
            color=style["color"],
            marker=style["marker"],
            edgecolors=current_theme().paper,
            linewidths=0.6,
            label=shown_name(name, 22),
            zorder=3,
            clip_on=False,
        )
        name_marks(marks, [f"{name}: {label} {value:.1%}" for label, value in zip(names, p, strict=True)])


def _label_axes(ax: "Axes", names: list[str], is_gold: list[bool]) -> None:
    """Set the ticks of labels, the known one bold, and the axis of shares."""
    ticks = [f"{name} (gold)" if gold else name for name, gold in zip(names, is_gold, strict=True)]
    ax.set_yticks(range(len(names)), ticks)
    for tick, gold in zip(ax.get_yticklabels(), is_gold, strict=True):
        tick.set_fontweight("bold" if gold else "normal")
    ax.set(ylim=(max(len(names), LEAST_ROWS) - 0.4, -0.6), ylabel="label")
    percent_axis(ax, "x")
    vertical_grid(ax)
    ax.tick_params(axis="y", length=0)


def _caption(
    votes: Votes, gold: list[str | None], methods: dict[str, SoftLabels], chosen_among: str, hidden: int
) -> str:
    """Return what is shown in words."""
    tops = _most_probable_labels(votes, 0, methods)
    known = f", gold label {shown_name(gold[0])}" if gold[0] is not None else ""
    first = f"{shown_name(votes.tasks[0])} ({votes_in_words(votes, 0)}{known})"
    if chosen_among and votes.n_tasks == 1:
        parts = [f"People disagree most on {first}: highest entropy of the votes of {chosen_among}."]
    elif chosen_among:
        parts = [
            f"The {votes.n_tasks} tasks on which people disagree most, by the entropy of the votes, of {chosen_among}; "
            f"first {first}."
        ]
    else:
        parts = [f"The task {first}."]
    if tops:
        parts.append(f"Most probable by method: {tops}.")
    parts.append("Bars are shares of votes" + (", marks probabilities by method." if methods else "."))
    if hidden:
        parts.append(f"{count_text(hidden, 'label')} with less weight {'is' if hidden == 1 else 'are'} not drawn.")
    return " ".join(parts)


def _most_probable_labels(votes: Votes, task: int, methods: dict[str, SoftLabels]) -> str:
    """Return the most probable label of a task by each method in words."""
    found = {name: p for name, soft in methods.items() if (p := probabilities_on(votes, task, soft)) is not None}
    return "; ".join(
        f"{shown_name(name)} {shown_name(votes.labels[p.argmax()])} {p.max():.0%}" for name, p in found.items()
    )
