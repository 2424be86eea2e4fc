"""Comparison of methods: means and intervals over data sets, mean ranks and the tests of their differences."""

import numpy as np
import pytest

import plurivox as pv
from plurivox import evaluate
from plurivox.charts import ChartData, MethodMeasures, methods
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.method_ranks import method_ranks, nemenyi_critical_difference
from plurivox.core.errors import InputError, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.workflows.chart_data import measures_of_comparison

VALUES = np.array([[0.9, 0.8, 0.5], [0.7, 0.6, 0.4], [0.8, 0.75, 0.3], [0.6, 0.5, 0.2]])
MADE = MethodMeasures(("d1", "d2", "d3", "d4"), ("best", "middle", "worst"), {"accuracy": VALUES, "NLL": 1 - VALUES})


def test_points_are_means_sorted_by_the_first_measure() -> None:
    figure = draw_figure(methods.make("comparison"), ChartData(measures=MADE))
    accuracy, nll = (ax for ax in figure.axes if ax.axison)
    assert [tick.get_text() for tick in accuracy.get_yticklabels()] == ["best", "middle", "worst"]
    np.testing.assert_allclose(accuracy.collections[1].get_offsets()[:, 0], [0.75, 0.6625, 0.35])
    assert (accuracy.get_xlabel(), nll.get_xlabel()) == ("higher is better", "lower is better")
    assert "Best by accuracy best (0.750), by NLL best (0.250)." in figure.caption
    (only,) = (
        ax for ax in draw_figure(methods.make("comparison", measures="nll"), ChartData(measures=MADE)).axes if ax.axison
    )
    assert only.get_title("left") == "NLL"


def crowd(seed: int) -> tuple[Votes, SoftLabels]:
    rng = np.random.default_rng(seed)
    truth = rng.integers(2, size=60)
    said = np.where(rng.random((60, 5)) < np.array([0.95, 0.9, 0.6, 0.55, 0.5]), truth[:, None], 1 - truth[:, None])
    tasks = np.repeat(np.arange(60), 5)
    return Votes.of(tasks, np.tile(np.arange(5), 60), said.ravel()), SoftLabels.gold(range(60), truth)


def test_a_comparison_has_its_intervals_around_the_mean_of_the_reference() -> None:
    compared = pv.compare({f"d{seed}": crowd(seed) for seed in range(4)}, "log-pool,vote-shares,dawid-skene")
    found = measures_of_comparison(compared)
    assert found.reference == "log-pool" and np.isnan(found.low["NLL"][0])
    middle = (found.low["NLL"] + found.high["NLL"]) / 2
    np.testing.assert_allclose(middle[1:], compared.mean_over_datasets("nll")[1:])
    caption = pv.plot(compared).caption
    assert caption == pv.plot(compared, "comparison").caption and "Dashed: log-pool" in caption
    assert "vote-shares* (" in caption or "* estimates what people say" in caption


def test_one_data_set_against_people_has_intervals_over_tasks() -> None:
    compared = pv.compare({"d": crowd(0)[0]}, "vote-shares,calibrated-shares", against="votes")
    found = measures_of_comparison(compared)
    assert next(iter(found.values)) == "CE"  # those that favour sure predictions come last
    assert found.low["CE"][0] < found.values["CE"][0, 0] < found.high["CE"][0]
    caption = pv.plot(compared).caption
    assert "95% intervals over tasks of the difference to calibrated-shares" in caption
    assert "favour predictions surer than people are" in caption


@pytest.mark.parametrize(("k", "q"), [(2, 1.960), (3, 2.343), (4, 2.569), (5, 2.728), (10, 3.164)])
def test_the_critical_difference_is_that_of_demsar(k: int, q: float) -> None:
    assert nemenyi_critical_difference(k, 20) == pytest.approx(q * np.sqrt(k * (k + 1) / 120), abs=1e-3)  # his Table 5


def test_groups_of_ranks_follow_the_tests() -> None:
    values = np.random.default_rng(0).normal([0.9, 0.88, 0.5, 0.48], 0.03, (12, 4))
    nemenyi = method_ranks(values, higher_is_better=True, test="nemenyi")
    assert nemenyi.methods[0] in ([0], [1]) and nemenyi.groups == [(0, 1), (2, 3)]
    assert nemenyi.friedman == evaluate.friedman(values)
    wilcoxon = method_ranks(values, higher_is_better=True, test="wilcoxon")
    p = evaluate.holm([evaluate.wilcoxon_signed_rank(values[:, i], values[:, j]) for i, j in ((0, 1), (0, 2), (2, 3))])
    assert p[1] < 0.05 and wilcoxon.groups == [(0, 1), (2, 3)]


def test_ranks_say_what_they_cannot_show() -> None:
    caption = draw_figure(methods.make("comparison", ranks="wilcoxon"), ChartData(measures=MADE)).caption
    assert "accuracy: best 1.00 of 3, Friedman's test p" in caption and "its p is at least 0.38." in caption
    few = MethodMeasures(("d1",), MADE.methods, {"accuracy": VALUES[:1]})
    with pytest.raises(InputError, match="needs 3 data sets or more for tests of ranks"):
        draw_figure(methods.make("comparison", ranks="nemenyi"), ChartData(measures=few))
    with pytest.raises(UnknownName, match="did you mean 'accuracy'"):
        draw_figure(methods.make("comparison", measures="acuracy"), ChartData(measures=MADE))
