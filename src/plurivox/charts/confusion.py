"""Confusion matrices of workers: which labels they take for which others."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.confusion_cells import (
    MAX_NAMED_CELLS,
    draw_confusion_heat_map,
    draw_hinton_diagram,
)
from plurivox.charts._shared.names_as_text import shown_name, shown_names
from plurivox.charts._shared.panels import panels, write_in_place_of_data
from plurivox.charts._shared.theme import current_theme, sequential_colormap
from plurivox.core.array_types import Floats, Ints
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.core.method import option
from plurivox.core.name_encoding import as_names, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from plurivox.core.results import Confusion as WorkerMatrices

MAX_METHODS, MAX_PANELS = 3, 12
VOTES_PER_ROW = 5  # fewer votes per row of a matrix do not determine it
EQUAL = 0.005  # cells of a row that differ by less are shown as equal
OTHER = "(other)"


class Panel(NamedTuple):
    """A matrix to draw, with its title and a line of details."""

    title: str
    detail: str
    matrix: Floats  # (n_labels, n_labels)
    votes: float = math.nan  # that it was estimated from; NaN: unknown


class Crowd(NamedTuple):
    """Confusion matrices with what is known of the workers."""

    method: str
    confusion: "WorkerMatrices"
    which: Ints  # (n_workers,) the matrix of each worker
    votes: Floats  # (n_workers,) NaN: unknown
    prior: Floats  # (n_labels,)

    def share_right(self, matrices: Floats) -> Floats:
        """Return (n,) the probability of a right vote by each matrix (n, n_labels, n_labels)."""
        return np.asarray(np.diagonal(matrices, axis1=-2, axis2=-1) @ self.prior)

    def mean_matrix(self) -> Floats:
        """Return the mean matrix of the workers, weighted by their votes if these are known."""
        load = np.ones(len(self.votes)) if np.isnan(self.votes).any() or not self.votes.sum() else self.votes
        weight = np.bincount(self.which, load, minlength=len(self.confusion.matrices))
        return np.einsum("m,mts->ts", weight, self.confusion.matrices) / max(weight.sum(), 1e-300)


@dataclass(frozen=True)
class Confusion(Chart):
    """Confusion matrices of workers: how often each label is given, by the true label.

    A row is a true label, a column the label given; a row is the distribution of a worker's votes on tasks of that label
    and sums to one. A worker who is always right has the identity, a spammer, whose votes do not depend on the truth, equal
    rows. The share of right votes beside a name is the sum over labels of prior x diagonal.

    By default the best, the median and the worst worker by that share are shown, of those with at least the median number of
    votes. `by=cluster` shows the matrices that workers share, and fits dawid-skene-clusters unless told otherwise;
    `by=mean` shows the mean of all workers, weighted by their votes. Of many labels the most confused ones are shown; the
    column (other) is the rest of each row.

    Dawid & Skene (1979), https://doi.org/10.2307/2346806; Hinton diagram: Hinton & Shallice (1991),
    https://doi.org/10.1037/0033-295X.98.1.74
    """

    by: Literal["worker", "cluster", "mean"] = option("worker", "a matrix per worker, per cluster, or the mean of all")
    style: Literal["heat-map", "hinton"] = option("heat-map", "shades, or squares whose area is the share")
    k: int = option(3, "number of workers", low=1, high=MAX_PANELS)
    choose: Literal["spread", "votes", "worst"] = option(
        "spread", "workers from best to worst, those with the most votes, or the worst"
    )
    only: str = option("", "names of the workers to show, comma-separated; by default chosen by `choose`")
    most: int = option(25, "show at most this many labels, the most confused ones", low=2, high=100)

    needs: ClassVar[tuple[str, ...]] = ("confusions",)
    may_use: ClassVar[tuple[str, ...]] = ("votes", "fits")
    fitted_by: ClassVar[tuple[str, ...]] = ("dawid-skene",)
    needs_named_workers: ClassVar[bool] = True
    figures: ClassVar[str] = "Lefort et al. (peerannot), Figure 6"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.by == "cluster":  # the aggregator whose workers share matrices
            object.__setattr__(self, "fitted_by", ("dawid-skene-clusters",))

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the matrices side by side and return the caption."""
        crowds = self._crowds(data)
        shown = [one for crowd in crowds for one in self._panels(crowd, crowds)]
        if not shown:
            write_in_place_of_data(ax, "no workers")
            return "There are no workers with confusion matrices."
        first = crowds[0]
        label = most_confused_labels(first, self.most)
        names = shown_names(first.confusion.labels[label], 16)
        n_said = len(label) + (len(label) < len(first.prior))
        rows, columns = _grid(len(shown), len(crowds))
        axes = panels(ax, rows, columns)
        for at, one in zip(axes.ravel(), shown, strict=False):
            self._draw_panel(at, one, label, names, len(shown) * len(label) * n_said <= MAX_NAMED_CELLS)
        for at in axes.ravel()[len(shown) :]:
            at.set_axis_off()
        self._label_axes(axes, len(shown), [*names, *[OTHER] * (n_said - len(names))], names)
        for at, crowd in zip(axes[:, 0], crowds if len(crowds) > 1 else [], strict=False):
            at.set_ylabel(f"{shown_name(crowd.method, 30)}\ntrue label")
        return self._caption(crowds, shown, len(label))

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return the size of the figure: it grows with the number of matrices and of labels."""
        crowds = self._crowds(data)
        shown = [one for crowd in crowds for one in self._panels(crowd, crowds)]
        n_labels = min(len(crowds[0].prior), self.most)
        rows, columns = _grid(len(shown), len(crowds))
        longest = max(map(len, shown_names(crowds[0].confusion.labels, 16)), default=1)
        margin, bar = 0.5 + 0.065 * longest, 0.7 if self.style == "heat-map" else 0.1
        side = float(np.clip(0.27 * n_labels + 0.4, 1.5, 2.7 if columns > 2 else 3.4 if columns == 2 else 4.6))
        side = max(side, *(max(0.082 * len(one.title), 0.062 * len(one.detail)) for one in shown), 0.0)
        side = min(side, (9 - margin - bar) / columns - 0.25, (9 - margin) / rows - 0.5)
        return max(columns * (side + 0.2) + margin + bar, 3.6), rows * (side + 0.5) + margin

    def _crowds(self, data: ChartData) -> list[Crowd]:
        """Return the matrices of each method with the votes of their workers and the prior of their labels."""
        found = []
        for name, confusion in list(data.confusions.items())[:MAX_METHODS]:
            n, votes = len(confusion.workers), np.full(len(confusion.workers), np.nan)
            if data.votes is not None and data.votes.n_workers:
                place = positions(data.votes.workers, confusion.workers)
                votes = np.where(place >= 0, data.votes.n_answers_per_worker[place], 0.0)
            n_labels = len(confusion.labels)
            fit = data.fits.get(name)
            prior = None if fit is None or fit.prior is None or len(fit.prior) != n_labels else fit.prior
            which = np.arange(n) if confusion.which is None else confusion.which
            found.append(
                Crowd(name, confusion, which, votes, np.full(n_labels, 1 / n_labels) if prior is None else prior)
            )
        return found

    def _panels(self, crowd: Crowd, crowds: list[Crowd]) -> list[Panel]:
        """Return the matrices of one method that are shown."""
        if not len(crowd.confusion.workers) or not len(crowd.prior):
            return []
        if self.by == "mean":
            matrix = crowd.mean_matrix()
            about = f"{count_text(len(crowd.votes), 'worker')}, {crowd.share_right(matrix):.0%} right (estimated)"
            return [Panel("mean of all workers", about, matrix)]
        if self.by == "cluster":
            return _cluster_panels(crowd)
        found = []
        for i, rank in self._chosen_workers(crowds[0]):
            name = crowds[0].confusion.workers[i]
            if (place := int(positions(crowd.confusion.workers, as_names([name]))[0])) < 0:
                continue
            matrix = crowd.confusion.matrices[crowd.which[place]]
            votes = "" if np.isnan(crowd.votes[place]) else f"{count_text(crowd.votes[place], 'vote')}, "
            about = f"{votes}{crowd.share_right(matrix):.0%} right (estimated)"
            found.append(Panel(shown_name(name, 18) + (f": {rank}" if rank else ""), about, matrix, crowd.votes[place]))
        return found[: 4 if len(crowds) > 1 else MAX_PANELS]

    def _chosen_workers(self, crowd: Crowd) -> list[tuple[int, str]]:
        """Return (index, best, median, worst or "") of the workers to show."""
        if self.only:
            return [(i, "") for i in _named_workers(self.only, crowd)]
        right, votes = crowd.share_right(crowd.confusion.matrices)[crowd.which], np.nan_to_num(crowd.votes)
        if self.choose == "votes":
            return [(i, "") for i in np.argsort(-votes, kind="stable")[: self.k].tolist()]
        some = np.flatnonzero(votes >= np.median(votes))
        order = some[np.lexsort((votes[some], -right[some]))]  # best first; of equal ones the one with fewer votes
        n = len(order)
        if self.choose == "worst":
            return [(i, "") for i in order[::-1][: self.k].tolist()]
        rank = np.unique(np.rint(np.linspace(0, n - 1, self.k) if self.k > 1 else [(n - 1) / 2]).astype(int))
        called = {(n - 1) // 2: "median", n // 2: "median", n - 1: "worst", 0: "best"} if n > 2 else {}
        return [(int(order[i]), called.get(i, "")) for i in rank.tolist()]

    def _draw_panel(self, ax: "Axes", one: Panel, label: Ints, names: list[str], with_texts: bool) -> None:
        """Draw one matrix, its title and its details."""
        matrix = one.matrix[np.ix_(label, label)]
        said = names
        if len(label) < len(one.matrix):
            rest = np.maximum(1 - matrix.sum(1, keepdims=True), 0)
            matrix, said = np.hstack([matrix, rest]), [*names, OTHER]
        texts = [
            f"{one.title}: {row} called {column} {matrix[i, j]:.1%}"
            for i, row in enumerate(names)
            for j, column in enumerate(said)
        ]
        draw = draw_hinton_diagram if self.style == "hinton" else draw_confusion_heat_map
        draw(ax, matrix, texts if with_texts else None)
        for spine in ax.spines.values():
            spine.set_visible(False)
        ax.set_title(one.title, pad=16)
        ax.annotate(
            one.detail,
            (0, 1),
            xycoords="axes fraction",
            xytext=(0, 4),
            textcoords="offset points",
            va="bottom",
            fontsize=8,
            color=current_theme().muted,
        )

    def _label_axes(self, axes: Any, n_shown: int, said: list[str], true: list[str]) -> None:
        """Write the names of labels at the left and lowest panels, and draw the colour bar."""
        columns = axes.shape[1]
        size = 8 if len(true) <= 15 else 6.5 if len(true) <= 20 or columns < 3 else 5
        upright = max(map(len, said)) > 3
        for i, ax in enumerate(axes.ravel()[:n_shown]):
            ax.tick_params(length=0, labelsize=size)
            ax.set_yticks(range(len(true)), true if i % columns == 0 else [""] * len(true))
            is_lowest = i + columns >= n_shown
            ax.set_xticks(range(len(said)), said if is_lowest else [""] * len(said), rotation=90 if upright else 0)
            ax.set(
                xlabel="label given" if is_lowest else "",
                ylabel="true label" if i % columns == 0 else "",
            )
        if self.style == "heat-map":
            _color_bar(axes[0, columns - 1])

    def _caption(self, crowds: list[Crowd], shown: list[Panel], n_labels: int) -> str:
        """Return what is shown, the most frequent confusion of the crowd, and warnings if votes are few."""
        crowd = crowds[0]
        n_all, methods = len(crowd.prior), " and ".join(shown_name(one.method, 40) for one in crowds)
        n_shown = len(shown) // len(crowds)
        what = {
            "mean": f"The mean confusion matrix of {count_text(len(crowd.votes), 'worker')}",
            "cluster": f"Confusion matrices of {count_text(n_shown, 'cluster')} of workers",
            "worker": f"Confusion matrices of {self._workers_in_words(crowd, n_shown)}",
        }[self.by]
        labels = f", {n_labels} most confused of {n_all:,} labels" if n_labels < n_all else ""
        cell = "the area of a square (blue: right, orange: wrong)" if self.style == "hinton" else "a cell, in %,"
        text = (
            f"{what}{labels}. Rows are true labels as {methods} estimate{'s' if len(crowds) == 1 else ''} them, columns the "
            f"labels given: {cell} is the estimated share of the votes on tasks of its row. {most_frequent_confusion(crowd)}"
        )
        n_few = sum(one.votes < VOTES_PER_ROW * n_all for one in shown[:n_shown])  # False for NaN
        if self.by == "worker" and n_few:
            text += (
                f" {n_few:,} of the workers shown gave fewer than {VOTES_PER_ROW} votes per label, so that single rows are "
                "rough."
            )
        if n_all > 2 and any((np.ptp(one.matrix, axis=1) < EQUAL).any() for one in shown):
            text += (
                " A row of equal cells tells nothing of its label: the worker has no votes on it, or answers at random."
            )
        return text

    def _workers_in_words(self, crowd: Crowd, n_shown: int) -> str:
        """Return which workers are shown."""
        every = count_text(len(crowd.votes), "worker")
        if self.only or n_shown == len(crowd.votes):
            return f"{n_shown:,} of {every}"
        if self.choose == "votes":
            return f"the {n_shown:,} with the most votes of {every}"
        least = float(np.median(np.nan_to_num(crowd.votes)))
        which = "with the lowest share of right votes" if self.choose == "worst" else "from best to worst"
        among = f", among those with at least {count_text(least, 'vote')}" if least > 0 else ""
        return f"{n_shown:,} of {every}, {which}{among}"


def _grid(n: int, n_methods: int) -> tuple[int, int]:
    """Return (rows, columns) of n panels: a row per method, or three or four in a row."""
    if n_methods > 1 and n % n_methods == 0 and n:
        return n_methods, n // n_methods
    rows = 2 if n == 4 else max(math.ceil(n / (4 if n % 4 == 0 else 3)), 1)
    return rows, max(math.ceil(n / rows), 1)


def most_confused_labels(crowd: Crowd, n: int) -> Ints:
    """Return the codes of the n labels with most wrong votes for or on them, in the order of the labels."""
    if len(crowd.prior) <= n:
        return np.arange(len(crowd.prior))
    wrong = crowd.prior[:, None] * crowd.mean_matrix()
    np.fill_diagonal(wrong, 0)
    return np.sort(np.argsort(-(wrong.sum(0) + wrong.sum(1)), kind="stable")[:n])


def most_frequent_confusion(crowd: Crowd) -> str:
    """Return a sentence on the two labels that are confused most often."""
    mean = crowd.mean_matrix()
    wrong = crowd.prior[:, None] * mean
    np.fill_diagonal(wrong, 0)
    if len(mean) < 2 or not wrong.max() > 0:
        return "No label is taken for another one."
    true, said = np.unravel_index(int(wrong.argmax()), wrong.shape)
    names = [f"“{shown_name(crowd.confusion.labels[i], 40)}”" for i in (true, said)]
    return f"The crowd's most frequent confusion: {mean[true, said]:.0%} of the votes on {names[0]} are for {names[1]}."


def _named_workers(given: str, crowd: Crowd) -> list[int]:
    """Return the indices of the workers named; the text may be one name with commas."""
    workers = crowd.confusion.workers
    if (whole := int(positions(workers, as_names([given]))[0])) >= 0:
        return [whole]
    names = [one.strip() for one in given.split(",") if one.strip()]
    place = positions(workers, as_names(names, "workers"))
    for name, code in zip(names, place.tolist(), strict=True):
        if code < 0:
            raise unknown_name_error("worker", name, map(str, workers.tolist()))
    return [int(one) for one in place[:MAX_PANELS]]


def _cluster_panels(crowd: Crowd) -> list[Panel]:
    """Return the matrices that workers share, those of the best cluster first."""
    if crowd.confusion.which is None:
        raise InputError(
            f"by=cluster needs matrices that workers share; those of {crowd.method} belong to one worker each: use "
            "methods='dawid-skene-clusters' (--methods dawid-skene-clusters)"
        )
    n = len(crowd.confusion.matrices)
    n_workers, votes = np.bincount(crowd.which, minlength=n), np.bincount(crowd.which, crowd.votes, minlength=n)
    right = crowd.share_right(crowd.confusion.matrices)
    order = [i for i in np.argsort(-right, kind="stable").tolist() if n_workers[i]][:MAX_PANELS]
    found = []
    for number, i in enumerate(order, 1):
        by_votes = "" if np.isnan(votes[i]) else f"{count_text(votes[i], 'vote')}, "
        about = f"{count_text(n_workers[i], 'worker')}, {by_votes}{right[i]:.0%} right (estimated)"
        found.append(Panel(f"cluster {number}", about, crowd.confusion.matrices[i]))
    return found


def _color_bar(ax: "Axes") -> None:
    """Draw the colour bar of the shares at the right of axes."""
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize
    from matplotlib.ticker import PercentFormatter

    figure: Any = ax.get_figure(root=True)
    shades = ScalarMappable(Normalize(0, 1), sequential_colormap())
    bar = figure.colorbar(shades, cax=ax.inset_axes((1.04, 0, 0.05, 1)), format=PercentFormatter(1, decimals=0))
    bar.set_label("share of the row", fontsize=8)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0)
