"""Histograms of votes per task and per worker: heights of bars, the median, the caption, the logarithmic axis."""

import numpy as np
import pytest

from plurivox.charts import ChartData
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.counts_histogram import bar_edges
from plurivox.charts.votes_per_task import VotesPerTask
from plurivox.charts.workload import Workload
from plurivox.core.votes import Votes

LOADS = [1] * 12 + [2] * 7 + [300]  # votes of 20 workers


def crowd(loads: list[int]) -> ChartData:
    """Return votes of workers with these numbers of votes, on tasks of their own."""
    worker = [f"w{i}" for i, n in enumerate(loads) for _ in range(n)]
    task = [f"t{i}" for n in loads for i in range(n)]
    return ChartData(votes=Votes.of(task, worker, ["x"] * len(worker), tasks=[f"t{i}" for i in range(max(loads) + 1)]))


def test_bars_count_the_tasks_of_every_number_of_votes() -> None:
    figure = draw_figure(VotesPerTask(), crowd([1, 2, 4]))  # tasks with 3, 2, 1, 1 and 0 votes
    (ax,) = figure.axes
    assert [bar.get_height() for bar in ax.patches] == [1, 2, 1, 1]
    assert figure.caption == "5 tasks got 7 votes: a median of 1 per task, from 0 to 3. 1 task has no votes."
    assert {one.get_text() for one in ax.texts} >= {"median 1"}


def test_soft_answers_count_once_and_counts_as_many_votes() -> None:
    soft = Votes.of(["a", "a"], ["w", "w"], ["x", "y"], weight=[0.3, 0.7], answer=[0, 0])
    assert "1 task got 1 vote: 1 per task" in draw_figure(VotesPerTask(), ChartData(votes=soft)).caption
    counts = Votes.from_counts(np.array([[50_000, 0], [10, 3]]), ["a", "b"], ["x", "y"])
    assert "from 13 to 50,000" in draw_figure(VotesPerTask(), ChartData(votes=counts)).caption


def test_workers_the_median_and_the_busiest_tenth() -> None:
    figure = draw_figure(Workload(), crowd(LOADS))
    assert figure.caption == (
        "20 workers gave 326 votes: a median of 1 per worker, from 1 to 300. The busiest tenth (2 workers) gave 93% of them."
    )
    assert sum(bar.get_height() for bar in figure.axes[0].patches) == 20
    assert figure.axes[0].get_xscale() == "log" and "logarithmic" in figure.axes[0].get_xlabel()
    assert "The busiest worker gave 60% of them" in draw_figure(Workload(), crowd([2, 3])).caption


@pytest.mark.parametrize(("low", "high"), [(1, 1000), (7, 99_999), (24, 700)])
def test_logarithmic_bars_never_get_narrower(low: int, high: int) -> None:
    edges, is_log = bar_edges(np.array([low] * 9 + [high], float))
    assert is_log and edges[0] == low - 0.5 and edges[-2] < high < edges[-1]
    assert (np.diff(edges, 2) >= 0).all() and len(edges) < 50


def test_short_logarithmic_axes_have_ticks_between_the_powers_of_ten() -> None:
    figure = draw_figure(Workload(), crowd([20] * 9 + [800]))
    shown = {one.get_text() for one in figure.axes[0].get_xticklabels(minor=True)}
    assert {"20", "50", "200", "500"} <= shown and "30" not in shown


def test_large_counts_are_written_in_full() -> None:
    votes = Votes.from_counts(np.full((3, 1), 50_000), ["a", "b", "c"], ["x"])
    (ax,) = draw_figure(VotesPerTask(), ChartData(votes=votes)).axes
    assert "median 50,000" in {one.get_text() for one in ax.texts}
    assert "50,000" in {one.get_text() for one in ax.get_xticklabels()}
