"""Agreement with the other workers from the first to the last answer of a worker: the curve, its band and in words."""

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from plurivox.charts._contract import ChartData
from plurivox.charts._shared.panels import horizontal_grid, percent_axis
from plurivox.charts._shared.theme import SERIES, current_theme
from plurivox.core.array_types import Floats
from plurivox.core.count_text import count_text
from plurivox.core.one_answer_per_worker import one_answer_per_task_and_worker
from plurivox.core.votes import Votes
from plurivox.elicit.one_label import OneLabel
from plurivox.identify import Evidence
from plurivox.identify._shared.share_of_others_agreeing_per_vote import agreement_minus_task_mean_of_dated_answers
from plurivox.identify.drift import MIN_ANSWERS, Drift

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_POINTS, ANSWERS_PER_POINT = 10, 20
MARKED_DECLINE = 2  # z of drift
UPPER_TAIL = 0.02275  # probability of a larger z in a normal distribution


class Course(NamedTuple):
    """Change of the agreement with the others along the workers' own sequences of answers."""

    place: Floats  # (n_points,) share of a worker's answers before, 0 to 1
    change: Floats  # (n_points,) agreement minus the mean of the task and of the worker
    half: Floats  # (n_points,) half the 95% interval, over workers
    n_workers: int
    n_marked: int  # workers with a marked decline


def votes_in_order(data: ChartData) -> Votes | None:
    """Return votes with times, or with the positions in the session as times; None if neither is known."""
    votes, answers = data.votes, data.answers
    if votes is not None and votes.when is not None and np.isfinite(votes.when).any():
        return votes
    if answers is None or not len(answers.labels) or (answers.when is None and answers.position is None):
        return None
    when = answers.when if answers.position is None else answers.position.astype(np.float64)
    return OneLabel().read(replace(answers, when=when)).votes


def course_of_agreement(votes: Votes) -> Course | None:
    """Return the course of the agreement; None if too few answers are on tasks shared with others."""
    votes = one_answer_per_task_and_worker(votes.where(votes.worker >= 0)).votes
    if not len(votes):
        return None
    worker, when, agreed = agreement_minus_task_mean_of_dated_answers(votes)
    count = np.bincount(worker, minlength=votes.n_workers)
    some = count[worker] >= MIN_ANSWERS
    worker, when, agreed = worker[some], when[some], agreed[some]
    n_points = int(min(MAX_POINTS, len(worker) // ANSWERS_PER_POINT))
    if n_points < 2:
        return None
    order = np.lexsort((when, worker))
    worker, agreed = worker[order], agreed[order]
    first = np.searchsorted(worker, worker)
    place = (np.arange(len(worker)) - first + 0.5) / count[worker]
    mean = np.bincount(worker, agreed, votes.n_workers) / np.maximum(count, 1)
    part = np.minimum((place * n_points).astype(np.int64), n_points - 1)
    points = [_mean_and_half_interval(worker[part == i], (agreed - mean[worker])[part == i]) for i in range(n_points)]
    z = Drift().score(Evidence(votes=votes)).badness
    change, half = np.array(points).T
    n_marked = int((np.nan_to_num(z) > MARKED_DECLINE).sum())
    return Course((np.arange(n_points) + 0.5) / n_points, change, half, len(np.unique(worker)), n_marked)


def _mean_and_half_interval(worker: np.ndarray, value: Floats) -> tuple[float, float]:
    """Return the mean and half of its 95% interval, in which the answers of one worker count as one observation."""
    if not len(value):
        return np.nan, np.nan
    mean = float(value.mean())
    sums = np.bincount(worker, value - mean)
    return mean, 1.96 * float(np.sqrt((sums**2).sum())) / len(value)


def draw_course(ax: "Axes", course: Course) -> None:
    """Draw the change with its band, and a line at no change."""
    ax.axhline(0, color=current_theme().muted, linewidth=1, linestyle="--")
    ax.fill_between(
        course.place, course.change - course.half, course.change + course.half, color=SERIES[0], alpha=0.25, linewidth=0
    )
    ax.plot(course.place, course.change, color=SERIES[0], marker="o", clip_on=False)
    percent_axis(ax, "x")
    ax.yaxis.set_major_formatter(lambda value, _: f"{100 * value:+.3g}" if abs(value) > 1e-9 else "0")
    ax.set(
        xlim=(0, 1),
        xlabel="place in the worker's own sequence of answers",
        ylabel="change of agreement\n(percentage points)",
        title="From a worker's first to last answer",
    )
    horizontal_grid(ax)


def course_in_words(course: Course) -> str:
    """Return sentences on the change from the first to the last answers, and on the workers who decline."""
    difference = 100 * (course.change[-1] - course.change[0])
    sure = abs(course.change[-1] - course.change[0]) > np.hypot(course.half[0], course.half[-1])
    expected = UPPER_TAIL * course.n_workers
    return (
        f" Below: the last answers of a worker agree with the others {abs(difference):.1f} points "
        f"{'less' if difference < 0 else 'more'} often than the first, tasks held equal, "
        f"{'which is more' if sure else 'no more'} than chance explains (band: 95% interval). Marked decline (drift, z above "
        f"{MARKED_DECLINE}): {course.n_marked:,} of {count_text(course.n_workers, 'worker')}, by chance about {expected:.0f}."
    )
