"""A measure against answers per task, votes or seconds of work."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from plurivox.charts._contract import Chart, ChartData, MeasureCurve
from plurivox.charts._shared.hover_text import name_marks
from plurivox.charts._shared.line_end_labels import label_line_ends
from plurivox.charts._shared.names_as_text import shown_name
from plurivox.charts._shared.panels import write_in_place_of_data
from plurivox.charts._shared.theme import series_style
from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.evaluate import MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_CURVES = 8
MOST_BANDS = 2  # of more curves the intervals are lines side by side, as bands would cover each other
STEP_ASIDE = 3.5  # points from one of these lines to the next
LOG_RANGE = 12  # the x axis is logarithmic if its largest value is more than this many times the smallest
WHOLE_RANGE = 3  # the ticks of the x axis are whole numbers if it spans at least this much
FAR = 3  # interquartile ranges beyond the quartiles: values farther out are left out of the axes


@dataclass(frozen=True)
class Curve(Chart):
    """Quality against cost: a measure as a function of answers per task, votes or seconds of work.

    For every number m, at most m random answers per task are drawn and aggregated, several times. A point is the mean over
    these draws; its interval is a 95% percentile bootstrap interval over tasks, which are drawn with replacement. Accuracy and
    other measures against gold labels share tied tasks evenly. Without gold labels the measure is the cross-entropy of votes
    that are held out (half of each task's, in each repeat others) under (1 - s) q + s / K with s = 0.01, for the soft label q
    over K labels: it is proper, so few held-out votes favour no method. Methods whose estimates the measure does not evaluate
    are left out.

    Several data sets have a curve each, such as plain votes and richer answers of the same tasks; of those with the same labels
    only the tasks that all of them have are used. Seconds per answer are the
    median recorded, else 1.8 as in CIFAR-10H. Collins, Bhatt and Weller (2022), https://doi.org/10.1609/hcomp.v10i1.21986
    """

    measure: str = option("", "measure, such as accuracy, nll or total-variation; none: accuracy, or by held-out votes")
    cost: Literal["answers", "votes", "seconds"] = option("answers", "what the x axis shows")
    most: int | None = option(None, "largest number of answers per task; none: the median", low=1)
    draws: int = option(5, "random draws of the answers, over which the measure is averaged", low=1, high=100)
    seed: int = option(0, "seed of the draws", low=0)

    needs: ClassVar[tuple[str, ...]] = ("curves",)
    takes_several_datasets: ClassVar[bool] = True
    may_use: ClassVar[tuple[str, ...]] = ("votes", "gold")
    fitted_by: ClassVar[tuple[str, ...]] = ("vote-shares", "dawid-skene", "log-pool", "calibrated-shares")
    figures: ClassVar[str] = "Collins et al. (2022), Figures 6 and 10"

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the curves with their bands and return the caption."""
        curves = [one for one in data.curves if np.isfinite(one.mean).any()][:MOST_CURVES]
        if not curves:
            write_in_place_of_data(ax, "no measure could be computed")
            return "No measure could be computed."
        for position, one in enumerate(curves):
            draw_curve(ax, one, position, len(curves))
        ax.grid()
        ax.set(xlabel=curves[0].x_title, ylabel=shown_measure(curves))
        mark_numbers(ax, np.unique(np.concatenate([one.x[np.isfinite(one.mean)] for one in curves])))
        outside = leave_out_far_values(ax, curves)
        ends = [last_point(one) for one in curves]
        colors = [series_style(position)["color"] for position in range(len(curves))]
        if len(curves) > 1:
            label_line_ends(ax, ends, [one.name for one in curves], colors, panel_height=self.size(data)[1] - 0.7)
        return caption(curves, len(data.curves), outside)

    def size(self, data: ChartData) -> tuple[float, float]:
        """Return a size with space for the names at the right."""
        return (7.2 if len(data.curves) > 1 else 6.4), 4.0


def draw_curve(ax: "Axes", one: MeasureCurve, position: int, n_curves: int) -> None:
    """Draw one curve with its intervals: as a band, or beside those of other curves if there are more than two."""
    from matplotlib.transforms import ScaledTranslation

    known, style = np.isfinite(one.mean), series_style(position)
    x, y, (low, high) = one.x[known], one.mean[known], (end[known] for end in ends(one))
    figure: Any = ax.get_figure(root=True)
    aside = STEP_ASIDE * (position - (n_curves - 1) / 2) / 72 if n_curves > MOST_BANDS else 0.0
    place = ax.transData + ScaledTranslation(aside, 0, figure.dpi_scale_trans)
    color = style["color"]
    if n_curves > MOST_BANDS:
        ax.errorbar(x, y, [y - low, high - y], fmt="none", ecolor=color, elinewidth=1.2, alpha=0.55, transform=place)
    else:
        ax.fill_between(x, low, high, color=color, alpha=0.13, linewidth=0)
    ax.plot(x, y, color=color, linestyle=style["linestyle"], transform=place)
    points = ax.scatter(x, y, s=24, color=color, marker=style["marker"], zorder=3, transform=place)
    name_marks(points, [point_text(one, k) for k in np.flatnonzero(known).tolist()])
    ax.update_datalim(np.column_stack([np.tile(x, 2), np.r_[low, high]]))  # not done for marks that are moved aside
    ax.autoscale_view()


def last_point(one: MeasureCurve) -> tuple[float, float]:
    """Return the largest cost with a value, and that value."""
    known = np.isfinite(one.mean)
    return float(one.x[known][-1]), float(one.mean[known][-1])


def leave_out_far_values(ax: "Axes", curves: list[MeasureCurve]) -> list[str]:
    """Limit the y axis to values that are not far from the others (three interquartile ranges); return those outside as text.

    A method may fail with one answer per task, which would make the differences between the others invisible.
    """
    values = np.concatenate([one.mean[np.isfinite(one.mean)] for one in curves])
    quarter, three_quarters = np.quantile(values, [0.25, 0.75])
    reach = FAR * (three_quarters - quarter)
    near = (values >= quarter - reach) & (values <= three_quarters + reach)
    if near.all() or reach == 0:
        return []
    lows, highs = (
        np.concatenate([end[np.isfinite(one.mean)] for one in curves for end in [ends(one)[k]]]) for k in (0, 1)
    )
    low, high = float(lows[near].min()), float(highs[near].max())
    ax.set_ylim(low - 0.04 * (high - low), high + 0.04 * (high - low))
    return [
        f"{shown_name(one.name)} {one.mean[k]:.3f} with {cost_text(one.x[k], one.x_title)}"
        for one in curves
        for k in np.flatnonzero(
            np.isfinite(one.mean) & ((one.mean < quarter - reach) | (one.mean > three_quarters + reach))
        )
    ]


def ends(one: MeasureCurve) -> tuple[Floats, Floats]:
    """Return the lower and upper ends of the intervals; the values themselves where there are none."""
    low, high = (one.mean if end is None else np.where(np.isfinite(end), end, one.mean) for end in (one.low, one.high))
    return low, high


def point_text(one: MeasureCurve, k: int) -> str:
    """Return a point as text: its curve, cost, measure and interval."""
    interval = ""
    if one.low is not None and one.high is not None and np.isfinite(one.low[k]):
        interval = f" [{one.low[k]:.3f}, {one.high[k]:.3f}]"
    return (
        f"{shown_name(one.name, 60)}: {one.measure} {one.mean[k]:.3f}{interval} with {cost_text(one.x[k], one.x_title)}"
    )


def cost_text(cost: float, title: str) -> str:
    """Return a cost with its unit as text.

    >>> cost_text(1.0, "answers per task"), cost_text(2.547, "answers per task"), cost_text(8000.0, "votes spent")
    ('1 answer per task', '2.55 answers per task', '8,000 votes spent')
    """
    number = f"{cost:,.0f}" if cost >= 100 else f"{cost:.3g}"
    return f"{number} {title.replace('answers', 'answer', 1) if number == '1' else title}"


def shown_measure(curves: list[MeasureCurve]) -> str:
    """Return the title of the y axis: the measure and its unit, if all curves have the same."""
    names = list(dict.fromkeys(one.measure for one in curves))
    if len(names) > 1:
        return " or ".join(shown_name(name, 30) for name in names)
    has_unit = "cross-entropy" in names[0] or "kl-divergence" in names[0] or names[0] == "nll"
    name = names[0].upper() if names[0] in ("nll", "ece") else names[0]
    return shown_name(name, 40) + (" (nats)" if has_unit else "")


def mark_numbers(ax: "Axes", x: Floats) -> None:
    """Put ticks of the x axis at the costs tried; make the axis logarithmic if they span orders of magnitude."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    if len(x) and x[0] > 0 and x[-1] > LOG_RANGE * x[0]:
        ax.set_xscale("log")
        steps = (np.array([1, 2, 5]) * 10.0 ** np.arange(-3, 12)[:, None]).ravel()
        ax.xaxis.set_major_locator(FixedLocator(steps[(steps >= 0.99 * x[0]) & (steps <= 1.01 * x[-1])]))
        ax.xaxis.set_minor_locator(NullLocator())
    else:
        whole = bool((x == np.round(x)).all()) or np.ptp(x) >= WHOLE_RANGE
        ax.xaxis.set_major_locator(MaxNLocator(8, integer=whole, min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"))


def caption(curves: list[MeasureCurve], n_given: int, outside: list[str]) -> str:
    """Return the caption: first and last value of every curve, how it was measured, and what one method saves."""
    first, title = curves[0], shown_measure(curves)
    values = "; ".join(
        f"{shown_name(one.name)} {one.mean[np.isfinite(one.mean)][0]:.3f} to {last_point(one)[1]:.3f}" for one in curves
    )
    begin, end = min(one.x[np.isfinite(one.mean)][0] for one in curves), max(last_point(one)[0] for one in curves)
    text = f"{title[:1].upper()}{title[1:]} from {cost_text(begin, first.x_title).split(' ')[0]} to "
    text += f"{cost_text(end, first.x_title)}: {values}.{saving_text(curves)}"
    text += "".join(f" {about}" for about in dict.fromkeys(one.about for one in curves if one.about))
    if any(one.low is not None and np.isfinite(one.low).any() for one in curves):
        text += f" {'Vertical lines' if len(curves) > MOST_BANDS else 'Bands'} are 95% intervals over tasks."
    if outside:
        text += f" Outside the axes: {', '.join(outside)}."
    if n_given > len(curves):
        text += f" Shown are {len(curves)} of {n_given} curves."
    return text


def saving_text(curves: list[MeasureCurve]) -> str:
    """Return a sentence on the cost at which the curve that ends best reaches the end of the one that ends worst."""
    measure = MEASURES.get(curves[0].measure)
    if len(curves) < 2 or measure is None or len({one.measure for one in curves}) > 1:
        return ""
    if not all(one.same_tasks for one in curves):
        return " The data sets have other tasks, so their curves do not show which way of asking is better."
    sign = 1 if measure.better == "higher" else -1
    ranked = sorted(curves, key=lambda one: sign * last_point(one)[1])
    worst, best = ranked[0], ranked[-1]
    known = np.isfinite(best.mean)
    x, y = best.x[known], np.maximum.accumulate(sign * best.mean[known])
    spent, reached = last_point(worst)
    target = sign * reached
    at = int(np.argmax(y >= target))
    needed = x[0] if at == 0 else float(np.interp(target, y[at - 1 : at + 1], x[at - 1 : at + 1]))
    if not needed < 0.95 * spent:
        return ""
    least = "with no more than" if at == 0 else "with about"
    return (
        f" {shown_name(best.name)} reaches {least} {cost_text(needed, best.x_title)} what {shown_name(worst.name)} has with "
        f"{cost_text(spent, best.x_title).split(' ')[0]}."
    )
