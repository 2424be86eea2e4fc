"""Reliability diagram: its points are the bins of `evaluate.reliability`, its error is `evaluate.ece`."""

import numpy as np
import pytest

from chart_inputs import chart_input
from plurivox import evaluate
from plurivox.charts import ChartData, methods
from plurivox.charts._figure import draw_figure
from plurivox.core.soft_labels import SoftLabels


def certain_and_unsure() -> ChartData:
    """Return two bins: 20 tasks of confidence 0.9 of which 15 are right, and 20 of confidence 0.6 of which 18 are right."""
    confidence = np.repeat([0.9, 0.6], 20)
    right = np.r_[np.arange(20) < 15, np.arange(20) < 18]
    tasks = [f"t{i:02}" for i in range(40)]
    soft = SoftLabels.of(np.stack([confidence, 1 - confidence], 1), tasks, ["no", "yes"])
    return ChartData(
        soft={"mine": soft}, gold=SoftLabels.gold(tasks, np.where(right, "no", "yes").tolist(), ["no", "yes"])
    )


def test_points_bars_and_error() -> None:
    figure = draw_figure(methods.make("reliability", bins=10), certain_and_unsure())
    upper, lower = (ax for ax in figure.axes if ax.axison)
    np.testing.assert_allclose(upper.collections[-1].get_offsets(), [[0.6, 0.9], [0.9, 0.75]])
    assert [bar.get_height() for bar in lower.patches] == [20, 20]
    assert "mine 0.225 [" in figure.caption and "underconfident by 0.075" in figure.caption


def test_the_error_is_that_of_evaluate() -> None:
    data = chart_input(60)
    figure = draw_figure(methods.make("reliability"), data)
    for name, soft in data.soft.items():
        assert f"{name} {evaluate.ece(soft, data.gold, ties='share'):.3f} [" in figure.caption


@pytest.mark.parametrize("bins", [1, 2, 4])
def test_bins_of_equal_counts(bins: int) -> None:
    data = certain_and_unsure()
    chart = methods.make("reliability", bins=bins, equal_counts=True)
    (found,) = chart.calibrations(data)  # type: ignore[attr-defined]
    assert found.bins.n.tolist() == [40 // bins] * bins
    assert found.ece == pytest.approx(0.075 if bins == 1 else 0.225)
    assert found.low < found.ece < found.high
