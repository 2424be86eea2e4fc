"""Methods compared over data sets: the mean of each measure with its interval, or mean ranks with a test."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from plurivox.charts._contract import Chart, ChartData, MethodMeasures
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.method_means import MeanOfMeasure, means_of_measure
from plurivox.charts._shared.method_ranks import LEVEL, MethodRanks, method_ranks
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import hide_axes, panels, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.core.array_types import Ints
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.evaluate.rank_tests import MIN_DATASETS, p_value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_MEASURES, MOST_METHODS = 4, 36
ROW, MARGINS = 0.21, 0.9  # heights in inches
BEYOND = 0.6  # how far beyond means and intervals the axis shows single data sets, per range of those
RANK_COLUMNS = 2  # panels of mean ranks side by side


@dataclass(frozen=True)
class Comparison(Chart):
    """Methods by measure: the mean over data sets with its interval, and the single data sets.

    One panel per measure, its methods sorted by the first. Over several data sets the lines are simultaneous 95% intervals of
    the mean difference to a reference method (the dashed line): Student's t with Bonferroni's correction. A method whose line
    does not touch the dashed line differs. Faint points are single data sets, each at its difference to the reference.

    With ranks it is the critical-difference diagram of Demsar (2006), https://jmlr.org/papers/v7/demsar06a.html: mean ranks
    over the data sets with results of all methods (1 is best), and lines that join methods of which no two differ at 5%, by
    the Nemenyi test or by Wilcoxon signed-rank tests of all pairs with Holm's correction.
    """

    measures: str = option("", "measures shown, comma-separated, such as accuracy,NLL; none: the first four")
    ranks: Literal["no", "nemenyi", "wilcoxon"] = option(
        "no", "mean ranks instead of means, and the test of their differences"
    )

    needs: ClassVar[tuple[str, ...]] = ("measures",)
    takes_several_datasets: ClassVar[bool] = True
    may_use: ClassVar[tuple[str, ...]] = ("votes", "gold")

    def check(self, data: ChartData) -> None:
        """Raise InputError if the measures cannot be shown, or if there are too few data sets for tests of ranks."""
        super().check(data)
        assert data.measures is not None
        n = len(data.measures.datasets)
        if self.ranks != "no" and n < MIN_DATASETS:
            raise InputError(
                f"the chart comparison needs {MIN_DATASETS} data sets or more for tests of ranks: give more, or leave ranks out"
            )
        self._measures(data.measures)

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a size for a panel per measure, and a row per method."""
        assert data.measures is not None
        n, n_methods = len(self._measures(data.measures)), min(len(data.measures.methods), MOST_METHODS)
        height = MARGINS + ROW * max(n_methods, 3)
        if self.ranks == "no":
            return min(2.3 + 2.3 * max(n, 1), 9.6), height
        return (5.4 if n == 1 else 9.6), (height + 0.2) * -(-n // RANK_COLUMNS)

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw a panel per measure and return the caption."""
        made = data.measures
        assert made is not None
        measures = self._measures(made)
        if not any(np.isfinite(made.values[one]).any() for one in measures):
            write_in_place_of_data(ax, "no method has a result")
            return "No method has a result, so nothing is drawn."
        return _draw_means(ax, made, measures) if self.ranks == "no" else self._draw_ranks(ax, made, measures)

    def _measures(self, made: MethodMeasures) -> list[str]:
        """Return the titles of the measures to draw. Raise UnknownName for one that was not computed."""
        if not self.measures:
            with_result = [one for one, values in made.values.items() if np.isfinite(values).any()]
            return (with_result or list(made.values))[:MOST_MEASURES]
        known = {one.lower(): one for one in made.values}
        wanted = [one.strip() for one in split_at_commas_outside_brackets(self.measures)]
        if unknown := [one for one in wanted if one.lower() not in known]:
            raise unknown_name_error("measure", unknown[0], list(made.values))
        return list(dict.fromkeys(known[one.lower()] for one in wanted))[:MOST_MEASURES]

    def _draw_ranks(self, ax: "Axes", made: MethodMeasures, measures: list[str]) -> str:
        """Draw a panel of mean ranks per measure and return the caption."""
        assert self.ranks != "no"
        columns = min(len(measures), RANK_COLUMNS)
        places = panels(ax, -(-len(measures) // columns), columns).ravel()
        texts, smallest = [], []
        for place, name in zip(places, measures, strict=False):
            better = name in made.higher_is_better
            found = method_ranks(made.values[name], higher_is_better=better, test=self.ranks)
            draw_ranks(place, found, made, name)
            texts.append(_ranks_in_words(found, made, name))
            smallest.append(found.smallest_possible_p)
        for place in places[len(measures) :]:
            hide_axes(place)
        if min(smallest) > LEVEL:
            texts.append(f"So few data sets cannot show a difference of a pair: its p is at least {min(smallest):.2f}.")
        by = "the Nemenyi test" if self.ranks == "nemenyi" else "Wilcoxon signed-rank tests with Holm's correction"
        return (
            f"Mean ranks over {count_text(len(made.datasets), 'data set')}, 1 is best; lines at the right join methods of "
            f"which no two differ at 5% by {by}. {' '.join(texts)}{f' {made.remark}.' if made.remark else ''}"
        )


def _draw_means(ax: "Axes", made: MethodMeasures, measures: list[str]) -> str:
    """Draw a panel of means per measure, with the same order of methods in all, and return the caption."""
    found = [means_of_measure(made, name) for name in measures]
    first = next(one for one in found if np.isfinite(one.mean).any())
    shown = first.best_first()[:MOST_METHODS]
    outside = 0
    for i, (place, one) in enumerate(zip(panels(ax, 1, len(found))[0], found, strict=True)):
        outside += draw_means(place, one, shown, made)
        place.set_yticks(range(len(shown)), [shown_name(made.methods[k], 28) for k in shown] if i == 0 else [])
        place.set(ylabel="method" if i == 0 else "")
    return _means_in_words(found, first, shown, made, outside)


def draw_means(ax: "Axes", one: MeanOfMeasure, shown: Ints, made: MethodMeasures) -> int:
    """Draw the means of one measure with their intervals; return how many points of data sets are outside the axes."""
    theme, rows = current_theme(), np.arange(len(shown))
    mean, low, high = one.mean[shown], one.low[shown], one.high[shown]
    if _has_reference(made):
        ax.axvline(one.mean[made.methods.index(made.reference)], color=theme.muted, linewidth=1, linestyle="--")
    ax.hlines(rows, low, high, color=SERIES[0], linewidth=1.6)
    known = np.isfinite(mean)
    points = ax.scatter(mean[known], rows[known], s=26, color=SERIES[0], zorder=3)
    name_marks(points, [mean_text(one, k, made) for k in shown[known].tolist()])
    left, right = limits_of_means(one, shown)
    outside = 0
    if len(made.datasets) > 1:
        is_other = np.array([name != made.reference for name in made.methods])
        dataset, row = np.nonzero((np.isfinite(one.single) & is_other)[:, shown])
        x = one.single[dataset, shown[row]]
        inside = (x >= left) & (x <= right)
        dots = ax.scatter(x[inside], row[inside] + 0.3, s=9, color=SERIES[1], alpha=0.65, linewidths=0, zorder=2)
        places = zip(dataset[inside].tolist(), shown[row[inside]].tolist(), strict=True)
        name_marks(dots, [value_text(one, i, k, made) for i, k in places])
        outside = int((~inside).sum())
    better = "higher" if one.higher_is_better else "lower"
    ax.set(xlim=(left, right), ylim=(max(len(rows), 3) - 0.4, -0.6), xlabel=f"{better} is better")
    ax.set_title(shown_name(one.title, 28))
    ax.tick_params(axis="y", length=0)
    ax.grid()
    return outside


def _has_reference(made: MethodMeasures) -> bool:
    """Return whether the intervals are of differences to a reference method."""
    return made.reference in made.methods and bool(made.low)


def limits_of_means(one: MeanOfMeasure, shown: Ints) -> tuple[float, float]:
    """Return limits of the x axis that show all means and intervals, and single data sets that are not far from these."""
    parts = np.concatenate([one.mean[shown], one.low[shown], one.high[shown]])
    parts = parts[np.isfinite(parts)]
    if not len(parts):
        return 0.0, 1.0
    low, high = float(parts.min()), float(parts.max())
    reach = BEYOND * (high - low) if high > low else 0.05 * max(abs(high), 1e-3)
    single = one.single[:, shown][np.isfinite(one.single[:, shown])]
    near = single[(single >= low - reach) & (single <= high + reach)]
    low, high = min(low, near.min(initial=low)), max(high, near.max(initial=high))
    margin = 0.06 * (high - low) if high > low else reach
    is_positive = one.smallest_value >= 0  # such as an error, which no interval should show to be negative
    return max(low - margin, 0.0) if is_positive and low - margin < 0 else low - margin, high + margin


def mean_text(one: MeanOfMeasure, method: int, made: MethodMeasures) -> str:
    """Return the mean of a method with its interval as text."""
    interval = f" [{one.low[method]:.3f}, {one.high[method]:.3f}]" if np.isfinite(one.low[method]) else ""
    return f"{shown_name(made.methods[method], 60)}: {one.title} {one.mean[method]:.3f}{interval}"


def value_text(one: MeanOfMeasure, dataset: int, method: int, made: MethodMeasures) -> str:
    """Return the value of a method on a data set, and its difference to the reference, as text."""
    values = made.values[one.title][dataset]
    text = f"{shown_name(made.methods[method], 60)} on {shown_name(made.datasets[dataset], 60)}: {values[method]:.3f}"
    if made.reference not in made.methods:
        return text
    return (
        f"{text} ({values[method] - values[made.methods.index(made.reference)]:+.3f} to {shown_name(made.reference)})"
    )


def _means_in_words(
    found: list[MeanOfMeasure], first: MeanOfMeasure, shown: Ints, made: MethodMeasures, outside: int
) -> str:
    """Return the best method by each measure, what the lines and points are, and what is left out."""
    n, n_methods = len(made.datasets), len(made.methods)
    over = f"Means over {count_text(n, 'data set')}" if n > 1 else f"Measures on {shown_name(made.datasets[0], 40)}"
    best = ", ".join(f"by {one.title} {mean_text_short(one, made)}" for one in found if np.isfinite(one.mean).any())
    parts = [f"{over} of {count_text(n_methods, 'method')}, sorted by {first.title}. Best {best}."]
    with_intervals = any(np.isfinite(one.low).any() for one in found)
    if with_intervals:
        parts.append(f"Lines: {made.interval_text}.")
    if _has_reference(made):
        what = "; a line that does not touch it shows a difference" if with_intervals else ""
        parts.append(f"Dashed: {shown_name(made.reference, 40)}{what}.")
    if 1 < n < MIN_DATASETS:
        parts.append(f"{count_text(n, 'data set')} are too few for intervals over data sets.")
    if n > 1:
        moved = ", at their difference to the dashed line" if _has_reference(made) else ""
        parts.append(f"Faint points: single data sets{moved}.")
    if outside:
        parts.append(f"{count_text(outside, 'faint point')} {'is' if outside == 1 else 'are'} outside the axes.")
    if n_methods > len(shown):
        parts.append(f"{count_text(n_methods - len(shown), 'method')} without results or with worse ones not shown.")
    return " ".join([*parts, *([f"{made.remark}."] if made.remark else [])])


def mean_text_short(one: MeanOfMeasure, made: MethodMeasures) -> str:
    """Return the best method of a measure with its mean, such as "glad (0.912)"."""
    best = int(one.best_first()[0])
    return f"{shown_name(made.methods[best], 40)} ({one.mean[best]:.3f})"


# ---- mean ranks


def draw_ranks(ax: "Axes", found: MethodRanks, made: MethodMeasures, title: str) -> None:
    """Draw the mean ranks in one measure, best first, and lines at the right that join methods which do not differ."""
    if not len(found.ranks):
        write_in_place_of_data(ax, f"{title}: no data set with results of all methods")
        return
    ranks, same = found.ranks[:MOST_METHODS], found.methods[:MOST_METHODS]
    names = [
        ", ".join(shown_name(made.methods[k], 28) for k in one[:2]) + ("…" if len(one) > 2 else "") for one in same
    ]
    rows, n = np.arange(len(ranks)), len(found.ranks)
    ax.hlines(rows, 1, ranks, color=current_theme().grid, linewidth=2)
    points = ax.scatter(ranks, rows, s=30, color=SERIES[0], zorder=3)
    name_marks(points, [f"{name}: mean rank {rank:.2f}" for name, rank in zip(names, ranks.tolist(), strict=True)])
    shown = [(low, min(high, len(ranks) - 1)) for low, high in found.groups if low < len(ranks) - 1]
    step = 0.035 * max(n - 1, 1)
    for i, (low, high) in enumerate(shown):
        ax.plot(
            [n + step * (i + 1.5)] * 2, [low - 0.2, high + 0.2], color=SERIES[1], linewidth=2.6, solid_capstyle="butt"
        )
    ax.set_yticks(rows, names)
    ax.set(xlim=(0.9, n + step * (len(shown) + 1.5)), ylim=(max(len(rows), 3) - 0.4, -0.6))
    ax.set(xlabel="mean rank (1 is best)")
    critical = (
        f", critical difference {found.critical_difference:.1f}" if np.isfinite(found.critical_difference) else ""
    )
    ax.set_title(f"{shown_name(title, 28)}{critical}")
    ax.set_xticks(_rank_ticks(n))
    ax.tick_params(axis="y", length=0)
    vertical_grid(ax)


def _rank_ticks(n: int) -> list[int]:
    """Return at most about eight whole ranks from 1 to n."""
    return list(range(1, n + 1, max(1, -(-n // 8))))


def _ranks_in_words(found: MethodRanks, made: MethodMeasures, title: str) -> str:
    """Return the best method by mean rank, Friedman's test and the critical difference of one measure in words."""
    if not len(found.ranks):
        return f"{title}: no data set has results of all methods."
    best = shown_name(made.methods[found.methods[0][0]], 40)
    text = f"{title}: {best} {found.ranks[0]:.2f} of {len(found.ranks)}"
    if found.friedman is not None:
        text += f", Friedman's test p {p_value_text(found.friedman.p_value, '= ')}"
    if np.isfinite(found.critical_difference):
        text += f", critical difference {found.critical_difference:.2f}"
    return f"{text}."
