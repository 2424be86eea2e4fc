"""Certainty: numbers of possible labels, probabilities of the top label as entered, and the entropy of their tasks."""

import numpy as np
import pytest

from plurivox.charts import ChartData, methods
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.entered_percents import entered_certainty
from plurivox.core.answers import Answers
from plurivox.core.soft_labels import SoftLabels

MARKS = [
    [("named", "cat", "80"), ("named", "dog", "20"), ("never", "bird", "")],  # 2 possible, 80%
    [("named", "cat", "100"), ("never", "bird", ""), ("never", "dog", "")],  # 1 possible, 100%
    [("named", "dog", "90"), ("named", "cat", "60")],  # 3 possible, 90 of 150
    [("named", "dog", "130")],  # 3 possible, no usable percent
]
ANSWERS = Answers.of(list("abca"), ["ann", "bo", "ann", "bo"], MARKS, labels=["bird", "cat", "dog"])


def test_possible_labels_and_probabilities_of_answers() -> None:
    found = entered_certainty(ANSWERS)
    assert found.n_possible.tolist() == [2, 1, 3, 3] and found.counts == "labels not ruled out"
    np.testing.assert_allclose(found.top, [0.8, 1.0, 0.6, np.nan])


def test_bars_and_caption() -> None:
    figure = draw_figure(methods.make("certainty"), ChartData(answers=ANSWERS))
    numbers, spread = (ax for ax in figure.axes if ax.axison)
    assert [bar.get_height() for bar in numbers.patches] == [1, 1, 2]
    middles = sorted(
        (round(bar.get_x() + bar.get_width() / 2), bar.get_y() + bar.get_height() / 2) for bar in spread.patches
    )
    np.testing.assert_allclose(middles, [(0, 1.0), (1, 0.8), (2, 0.6)])
    assert (
        "4 answers leave 2.5 of 3 labels possible in the median (labels not ruled out), and 25% of them"
        in figure.caption
    )
    assert "The top label gets 80% in the median, and 100% in 33% of the answers" in figure.caption
    assert "1 answer without a usable percent is not in the lower bars." in figure.caption


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_colours_are_entropies_and_said_so_in_every_theme(theme: str) -> None:
    soft = SoftLabels.of([[0, 1, 0], [0, 1, 0], [0, 0.5, 0.5]], ["a", "b", "c"], ["bird", "cat", "dog"])
    data = ChartData(answers=ANSWERS, soft={"others": soft})
    figure = draw_figure(methods.make("certainty"), data, theme=theme)  # type: ignore[arg-type]
    assert "Colours: the mean entropy, in others, of the tasks of these answers." in figure.caption
    assert any("mean entropy in others (nats)" in ax.get_ylabel() for ax in figure.axes)
