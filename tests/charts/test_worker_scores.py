"""The chart worker-scores: the table of scores, who is doubtful, the rank correlations, and the ranking by one score."""

import numpy as np
import pytest
from scipy.stats import rankdata, spearmanr

from chart_inputs import chart_input
from plurivox.charts import ChartData
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.worker_score_table import rank_of_known, worker_score_table
from plurivox.charts.worker_scores import WorkerScores
from plurivox.core.results import Confusion, Scores

NAMES = np.array([f"w{i:02d}" for i in range(20)])


def scores(badness: np.ndarray, name: str, **more: np.ndarray) -> Scores:
    return Scores("worker", NAMES, -badness, badness, name, **more)


def three() -> ChartData:
    """Return three scores: w00 is the worst by two of them, w05 by one."""
    first, second, third = (np.random.default_rng(seed).random(20) for seed in range(3))
    first[0] = second[0] = third[5] = first[5] = 2.0
    return ChartData(scores=(scores(first, "one"), scores(second, "two"), scores(third, "three")))


def test_the_doubtful_are_among_the_worst_by_two_scores() -> None:
    data = three()
    flags = sum((rankdata(-one.badness) <= 2).astype(int) for one in data.scores)  # a tenth of 20
    wrong = [str(name) for name in NAMES[np.asarray(flags) >= 2]]
    figure = draw_figure(WorkerScores(), data)
    assert {"w00", "w05"} <= set(wrong) and f"{len(wrong)} workers (orange squares)" in figure.caption
    assert all(name in figure.caption for name in wrong)


def test_correlations_are_those_of_scipy_and_appear_in_the_panels() -> None:
    data = three()
    expected = spearmanr(data.scores[0].badness, data.scores[1].badness).statistic
    assert worker_score_table(data, 5).rank_correlation(0, 1) == pytest.approx(expected)
    texts = {one.get_text() for ax in draw_figure(WorkerScores(), data).axes for one in ax.texts}
    assert f"{expected:.2f}".replace("-", "−") in texts


def test_ranks_share_ties_and_skip_nan() -> None:
    values = np.random.default_rng(1).integers(0, 5, 30).astype(float)
    np.testing.assert_array_equal(rank_of_known(values), rankdata(values))


def test_tied_workers_count_together_or_not_at_all() -> None:
    table = worker_score_table(ChartData(scores=(scores(np.repeat([1.0, 0.0], [5, 15]), "tied"),)), 5)
    assert not table.is_among_worst(0.1).any() and table.is_among_worst(0.25).sum() == 5


def test_matrices_that_a_net_learnt_add_their_traces() -> None:
    matrices = np.array([np.eye(2), np.full((2, 2), 0.5)])
    data = ChartData(confusions={"net": Confusion(matrices, NAMES[:2], np.array(["a", "b"]))})
    table = worker_score_table(data, 5)
    assert table.titles == ("trace, net",) and table.raw[:, 0].tolist() == [2, 1]
    assert worker_score_table(chart_input(), 9).titles.count("trace, dawid-skene") == 0  # it is the score trace


def test_one_score_is_a_ranking_with_intervals() -> None:
    badness = np.linspace(0, 1, 20)
    figure = draw_figure(
        WorkerScores(), ChartData(scores=(scores(badness, "one", low=-badness - 0.1, high=-badness + 0.1),))
    )
    labels = [one.get_text() for one in figure.axes[0].get_yticklabels()]
    assert labels == NAMES[::-1].tolist() and "95% intervals" in figure.caption and "worst is w19" in figure.caption


def test_workers_with_few_votes_are_hollow_in_a_ranking() -> None:
    data = ChartData(scores=(scores(np.linspace(0, 1, 20), "one", n=np.repeat([3.0, 50.0], [1, 19])),))
    figure = draw_figure(WorkerScores(), data)
    good = figure.axes[0].collections[1]  # the lines come first
    white = (np.asarray(good.get_facecolor())[:, :3] == 1).all(1)
    assert white.tolist() == [False] * 17 + [True] and "the best w00 with -0 (3 votes)" in figure.caption


def test_a_small_crowd_has_no_worst_tenth() -> None:
    three_workers = [
        Scores("worker", NAMES[:3], -b, b, name) for name, b in (("x", np.arange(3.0)), ("y", np.arange(3.0)))
    ]
    caption = draw_figure(WorkerScores(), ChartData(scores=tuple(three_workers))).caption
    assert "1 worker (orange square) is the worst by both scores: w02." in caption
    assert "The rank correlation of the two scores is 1.00." in caption
