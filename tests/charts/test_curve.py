"""Curve: points at the end are the measure of all answers, and what one method saves is told for the same tasks only."""

import numpy as np
import pytest

import plurivox as pv
from plurivox import evaluate
from plurivox.charts import ChartData, MeasureCurve, methods
from plurivox.charts._figure import draw_figure
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset


def crowd(name: str, share_right: float, tasks: range, labels: tuple[str, str] = ("no", "yes")) -> Dataset:
    rng = np.random.default_rng(len(name))
    truth = np.arange(len(tasks)) % 2
    said = np.where(rng.random((len(tasks), 3)) < share_right, truth[:, None], 1 - truth[:, None])
    votes = Votes.of(np.repeat(tasks, 3), ["u", "v", "w"] * len(tasks), np.array(labels)[said.ravel()])
    gold = SoftLabels.gold(tasks, np.array(labels)[truth], labels)
    return Dataset(name, votes=votes, gold=gold)


def test_the_last_point_is_the_measure_of_all_answers() -> None:
    data = crowd("mine", 0.8, range(60))
    assert data.votes is not None and data.gold is not None
    figure = pv.plot(data, "curve", methods="vote-shares,wawa")
    (ax,) = (ax for ax in figure.axes if ax.axison)
    for line, name in zip(ax.lines, ("vote-shares", "wawa"), strict=True):
        of_all = evaluate.accuracy(pv.fit(data.votes, name).soft, data.gold, ties="share")
        assert line.get_xdata()[-1] == 3 and line.get_ydata()[-1] == pytest.approx(of_all)
        assert f"to {of_all:.3f}" in figure.caption
    assert [text.get_text() for text in ax.texts] == ["vote-shares", "wawa"]


def test_data_sets_with_the_same_labels_are_compared_on_the_tasks_that_all_have() -> None:
    good, bad = crowd("good", 0.95, range(80)), crowd("worse", 0.6, range(40, 120))
    caption = pv.plot([good, bad], "curve", methods="vote-shares").caption
    assert "good reaches with no more than 1 answer per task what worse has with 3" in caption
    assert "gold labels of 40 tasks" in caption and "Only the 40 tasks that all data sets have are used." in caption


@pytest.mark.parametrize("other", [crowd("other", 0.6, range(200, 260)), crowd("names", 0.6, range(80), ("n", "y"))])
def test_curves_of_other_tasks_are_not_said_to_save_anything(other: Dataset) -> None:
    caption = pv.plot([crowd("good", 0.95, range(80)), other], "curve", methods="vote-shares").caption
    assert "reaches" not in caption and "The data sets have other tasks" in caption and "of 80 tasks" in caption


def test_values_far_from_the_others_are_outside_the_axes_and_told() -> None:
    x = np.arange(1.0, 5.0)
    curves = (
        MeasureCurve("a", x, np.array([0.1, 0.8, 0.82, 0.85])),
        MeasureCurve("b", x, np.array([0.8, 0.81, 0.83, 0.84])),
    )
    figure = draw_figure(methods.make("curve"), ChartData(curves=curves))
    (ax,) = (ax for ax in figure.axes if ax.axison)
    assert ax.get_ylim()[0] > 0.7 and "Outside the axes: a 0.100 with 1 answer per task." in figure.caption
