"""The chart confusion: which workers and labels it shows, and the numbers in it."""

import numpy as np
import pytest

import plurivox as pv
from chart_inputs import chart_input
from plurivox.charts import ChartData
from plurivox.charts._figure import draw_figure
from plurivox.charts.confusion import Confusion as Chart
from plurivox.core.errors import InputError, UnknownName
from plurivox.core.results import Confusion

LABELS = np.array(["a", "b", "c"])
GOOD, BAD, SPAM = np.eye(3), np.array([[0.2, 0.8, 0], [0, 1, 0], [0, 0, 1]]), np.tile([0.5, 0.25, 0.25], (3, 1))


def crowd(which: list[int] | None = None) -> ChartData:
    workers = np.array(["bad", "good", "spam"])
    return ChartData(confusions={"some": Confusion(np.array([BAD, GOOD, SPAM]), workers, LABELS, which=which)})


def titles(data: ChartData, **options: object) -> list[str]:
    return [ax.get_title(loc="left") for ax in draw_figure(Chart(**options), data).axes if ax.axison]  # type: ignore[arg-type]


def test_workers_are_chosen_from_best_to_worst_or_by_name() -> None:
    assert titles(crowd()) == ["good: best", "bad: median", "spam: worst"]
    assert titles(crowd(), choose="worst", k=2) == ["spam", "bad"]
    assert titles(crowd(), only="bad, spam") == ["bad", "spam"]
    with pytest.raises(UnknownName, match="nobody"):
        titles(crowd(), only="nobody")


def test_cells_are_the_matrix_and_texts_are_percentages() -> None:
    figure = draw_figure(Chart(only="bad"), crowd())
    ax = next(one for one in figure.axes if one.axison)
    np.testing.assert_array_equal(ax.collections[0].get_array().reshape(3, 3), BAD)
    assert {one.get_text() for one in ax.texts} >= {"20", "80", "100"}
    mean = (BAD + GOOD + SPAM) / 3
    assert f"{mean[0, 1]:.0%} of the votes on “a” are for “b”" in figure.caption


def test_squares_of_a_hinton_diagram_have_areas_in_proportion() -> None:
    ax = next(one for one in draw_figure(Chart(only="bad", style="hinton"), crowd()).axes if one.axison)
    sides = [np.ptp(np.asarray(path.vertices)[:, 0]) for path in ax.collections[0].get_paths()]
    assert sides[1] ** 2 / sides[0] ** 2 == pytest.approx(4)


def test_the_mean_is_weighted_by_votes() -> None:
    data = chart_input()
    confusion, votes = data.confusions["dawid-skene"], data.votes
    assert votes is not None
    expected = np.average(confusion.matrices, axis=0, weights=votes.n_answers_per_worker)
    ax = next(one for one in draw_figure(Chart(by="mean"), data).axes if one.axison)
    np.testing.assert_allclose(np.asarray(ax.collections[0].get_array()).reshape(expected.shape), expected)


def test_the_caption_says_which_workers_are_shown_and_who_gave_few_votes() -> None:
    caption = draw_figure(Chart(), chart_input()).caption
    assert "3 of 8 workers, from best to worst, among those with at least 15 votes" in caption
    assert "as dawid-skene estimates them" in caption and "fewer than 5 votes per label" not in caption
    assert "3 of the workers shown gave fewer than 5 votes per label" in draw_figure(Chart(), chart_input(9)).caption


def test_clusters_are_fitted_and_need_shared_matrices() -> None:
    assert pv.plot("toy", "confusion", by="cluster").axes[1].get_title(loc="left") == "cluster 1"
    with pytest.raises(InputError, match="dawid-skene-clusters"):
        draw_figure(Chart(by="cluster"), crowd())


def test_the_most_confused_labels_of_many_are_shown_with_the_rest_of_each_row() -> None:
    ax = next(one for one in draw_figure(Chart(only="bad", most=2), crowd()).axes if one.axison)
    assert [one.get_text() for one in ax.get_xticklabels()] == ["a", "b", "(other)"]
