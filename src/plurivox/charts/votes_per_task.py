"""Votes per task: how the votes are spread over the tasks."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plurivox.charts._contract import Chart, ChartData
from plurivox.charts._shared.counts_histogram import draw_histogram_of_counts, range_in_words
from plurivox.core.count_text import count_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class VotesPerTask(Chart):
    """Votes per task: a histogram of the feedback effort, with the number of tasks without votes.

    A soft answer counts as one vote, and a count without names as that many. The axis is logarithmic if every task has
    votes and one has more than twenty times as many as the median one.
    """

    figures: ClassVar[str] = "Lefort et al. (peerannot), Figures 9 to 12, right"

    def draw(self, ax: "Axes", data: ChartData) -> str:
        """Draw the histogram and return its caption."""
        assert data.votes is not None
        per_task = data.votes.support.round(6)  # the weights of a soft answer add up to one only nearly
        draw_histogram_of_counts(ax, per_task, "votes per task", "tasks")
        if not len(per_task):
            return "There are no tasks."
        without = int(np.count_nonzero(per_task == 0))
        total, spread = count_text(per_task.sum(), "vote"), range_in_words(per_task, "task")
        return f"{count_text(len(per_task), 'task')} got {total}: {spread}. {_tasks_without_votes(without)}"


def _tasks_without_votes(n: int) -> str:
    """Return a sentence on the number of tasks without votes."""
    if not n:
        return "Every task has a vote."
    return f"{count_text(n, 'task')} {'has' if n == 1 else 'have'} no votes."
