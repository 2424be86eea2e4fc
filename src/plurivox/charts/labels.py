"""Labels: how often each is voted for, estimated and true, and which are voted for on the same task."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.label_pairs import (
    LabelGroups,
    PairsOfVotes,
    most_used_labels,
    order_by_confusion,
    pairs_of_votes,
)
from plurivox.charts._shared.label_shares import (
    Shares,
    all_labels,
    gold_on_tasks_with_votes,
    shares_of_tables,
    shares_of_votes,
)
from plurivox.charts._shared.lower_triangle import MAX_NUMBERED, draw_lower_triangle
from plurivox.charts._shared.names_as_text import shown_names
from plurivox.charts._shared.panels import panels, percent_axis, vertical_grid, write_in_place_of_data
from plurivox.charts._shared.theme import MARKERS, SERIES, current_theme, text_color_on
from plurivox.core.array_types import Ints, Names
from plurivox.core.count_text import count_text
from plurivox.core.method import option
from plurivox.core.votes import Votes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_METHODS = 4
FEW = 6  # labels up to which they are sorted by their share
PAIRS = "pairs that differ"
STRETCH = 1.15  # the axis of shares ends so much beyond the largest share of a label of its own


@dataclass(frozen=True)
class Labels(Chart):
    """Labels: the share of each in votes, soft labels and gold labels, and the pairs of labels that voters disagree on.

    Bars are shares of all votes, marks the mean probabilities of soft labels and the shares of gold labels, on tasks with
    votes; the line of a gold label is the 95% Jeffreys interval of its share, for tasks like these.

    Cells are pairs of votes on the same task for two different labels, as a share of all such pairs. A pair on a task with n
    votes counts 1 / (n - 1), so that every vote counts the same: these are the coincidences of Krippendorff's alpha. Frequent
    labels are in many pairs. With more than six labels, those that are confused stand near each other (average linkage with
    optimal order of the leaves), unless the labels are ordered.

    Hayes and Krippendorff (2007), https://doi.org/10.1080/19312450709336664
    """

    k: int = option(20, "number of labels shown, the most used; the others are added up as other", low=2, high=40)
    order: Literal["auto", "share", "confused", "given"] = option(
        "auto",
        "order of the labels: by share of votes, confused ones near each other, as given, or auto: as given if they are "
        "ordered, by share if there are at most six, else confused",
    )

    needs: ClassVar[tuple[str, ...]] = ("votes",)
    may_use: ClassVar[tuple[str, ...]] = ("soft", "gold")

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a height that grows with the number of labels; wider if there is a panel of pairs."""
        assert data.votes is not None
        rows = min(len(all_labels(data)), self.k + 1)
        return (9.0 if rows > 2 else 6.4), float(np.clip(1.4 + 0.29 * rows, 2.6, 9))

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw shares, and pairs if there are more than two labels, and return the caption."""
        assert data.votes is not None
        labels = all_labels(data)
        if not len(labels):
            write_in_place_of_data(ax, "no labels")
            return "There are no labels."
        groups = self._groups(data, labels)
        pairs = pairs_of_votes(data.votes, groups)
        order = self._order(data.votes, groups, pairs)
        names = groups.names()
        tables = shares_of_tables(data, groups)
        if groups.n_groups > 2:
            left, right = panels(ax, 1, 2, width_ratios=[1, 1.05])[0]
            draw_lower_triangle(right, pairs.shares[np.ix_(order, order)], [names[i] for i in order], PAIRS)
            pad = 6 if len(tables) == 1 else 8 + 13 * -(-len(tables) // 2)  # the legend is below the title
            left.set_title("Share of each label", pad=pad)
            unit = ", in %" if groups.n_groups <= MAX_NUMBERED else ""
            right.set_title(f"Pairs of differing votes on the same task{unit}", pad=pad)
        else:
            left = ax
        n_own = groups.n_groups - (groups.n_other > 0)
        _draw_shares(left, tables, order, [names[i] for i in order], n_own)
        return _caption(data, groups, tables, pairs)

    def _groups(self, data: ChartData, labels: Names) -> LabelGroups:
        """Return the k most used labels, and the rest as one group."""
        assert data.votes is not None
        every = most_used_labels(labels, np.zeros(len(labels)), len(labels))
        use = sum((one.share for one in shares_of_tables(data, every, gold_interval=False)), np.zeros(len(labels)))
        return most_used_labels(labels, use, self.k)

    def _order(self, votes: Votes, groups: LabelGroups, pairs: PairsOfVotes) -> Ints:
        """(n_groups,) the groups from top to bottom, "other" last."""
        own = groups.n_groups - (groups.n_other > 0)
        how = self.order
        if how == "auto":
            how = "given" if votes.scale is not None else "share" if own <= FEW else "confused"
        order: Ints = np.arange(own)  # groups are sorted by use
        if how == "given":
            first = np.full(groups.n_groups, len(groups.labels))
            np.minimum.at(first, groups.group, np.arange(len(groups.labels)))
            order = np.argsort(first[:own], kind="stable")
        elif how == "confused":
            order = order_by_confusion(pairs.shares[:own, :own])
        return np.concatenate([order, np.arange(own, groups.n_groups)])


def _draw_shares(ax: Any, tables: list[Shares], order: Ints, names: list[str], n_own: int) -> None:
    """Draw the votes as bars, and the other tables as marks on them, the gold labels with their intervals."""
    from matplotlib.ticker import MaxNLocator

    votes = tables[0].share[order]
    bars = ax.barh(np.arange(len(order)), votes, 0.72, color=SERIES[0], alpha=0.7 if len(tables) > 1 else 1.0)
    name_marks(bars.patches, [f"{name}: {share:.1%} of votes" for name, share in zip(names, votes, strict=True)])
    shifts = np.linspace(-0.22, 0.22, len(tables) - 1) if len(tables) > 2 else [0.0]
    points = [
        _draw_marks(ax, one, place, order, names, float(shift))
        for place, (one, shift) in enumerate(zip(tables[1:], shifts, strict=False), start=1)
    ]
    end = min(max(STRETCH * max(one.largest(n_own) for one in tables), 0.01), 1.02)
    for row in np.flatnonzero(votes > end):  # the bar of all other labels may be much longer than the axis
        text = f"{votes[row]:.0%} →"
        ax.text(0.98 * end, row, text, ha="right", va="center", fontsize=8, color=text_color_on(SERIES[0]))
    ax.set(xlim=(0, end), ylim=(len(order) - 0.5, -0.5), xlabel="share", ylabel="label")
    ax.set_yticks(np.arange(len(order)), shown_names(names))
    ax.tick_params(axis="y", length=0)
    ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
    percent_axis(ax, "x")
    vertical_grid(ax)
    if points:
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1.0), "borderaxespad": 0.2}
        texts = [one.name for one in tables]
        ax.legend([bars, *points], texts, ncols=2, handletextpad=0.4, columnspacing=1, **place)


def _draw_marks(ax: Any, one: Shares, place: int, order: Ints, names: list[str], shift: float) -> Any:
    """Draw the shares of one table as marks, `shift` below the middle of the bars, with intervals if it has them."""
    theme, y = current_theme(), np.arange(len(order)) + shift
    color, marker = (theme.ink, "D") if one.is_gold else (SERIES[place], MARKERS[place])
    if one.low is not None and one.high is not None:
        ax.hlines(y, one.low[order], one.high[order], color=color, linewidth=1.3)
    style = {"color": color, "marker": marker, "edgecolor": theme.paper, "linewidth": 0.6}
    points = ax.scatter(one.share[order], y, 26, zorder=3, **style)
    texts = zip(names, one.share[order], strict=True)
    name_marks(points, [f"{name}: {share:.1%} by {one.name}" for name, share in texts])
    return points


def _caption(data: ChartData, groups: LabelGroups, tables: list[Shares], pairs: PairsOfVotes) -> str:
    """Return what the chart shows in words."""
    assert data.votes is not None
    votes, names = tables[0].share, [f"“{name}”" for name in shown_names(groups.names())]
    own = groups.n_groups - (groups.n_other > 0)
    shown = f" ({own:,} of {len(groups.labels):,} labels are shown, the most used)" if groups.n_other else ""
    text = f"{count_text(data.votes.n_answers, 'vote')} for {count_text(len(groups.labels), 'label')}{shown}"
    if data.votes.n_answers:
        top = int(votes[:own].argmax())
        text += f", {votes[top]:.0%} of them for {names[top]}"
    text += "."
    if (gold := gold_on_tasks_with_votes(data)) is not None:
        gold_shares, on_gold = tables[-1].share, shares_of_votes(data.votes.on(gold.tasks), groups)
        most = int(np.abs(gold_shares - on_gold)[:own].argmax())
        text += (
            f" On the {count_text(len(gold), 'task')} with gold labels, these differ most from the votes for {names[most]}: "
            f"{gold_shares[most]:.0%} of the gold labels, {on_gold[most]:.0%} of the votes; their lines are 95% intervals."
        )
    return f"{text} {_pairs_in_words(pairs, own, names)}"


def _pairs_in_words(pairs: PairsOfVotes, own: int, names: list[str]) -> str:
    """Return a sentence or two on the pairs of votes for different labels, of which the first `own` are single labels."""
    if np.isnan(pairs.differing):
        return "No task has two votes, so that no pair of labels can be compared."
    text = f"Two votes on the same task differ in {pairs.differing:.1%} of all cases"
    below = np.tril(pairs.shares[:own, :own])
    if len(names) < 3 or not below.any():
        return f"{text}."
    a, b = np.unravel_index(int(below.argmax()), below.shape)
    largest = f"{below[a, b]:.0%}" if below[a, b] >= 0.005 else "below 0.5%"
    pair = f"{names[b]} and {names[a]}"
    return f"{text}; a cell is the share of two labels in these cases, the largest {largest} for {pair}."
