"""Votes of one task: bars are shares of votes, marks the probabilities of methods; by default where people disagree most."""

import numpy as np
import pytest

from plurivox.charts import ChartData, methods
from plurivox.charts._figure import draw_figure
from plurivox.core.errors import UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.task_contents import TaskContents
from plurivox.core.votes import Votes

SAID = {"easy": "xxxxx", "split": "xxyyz", "few": "xyz"}
VOTES = Votes.of(
    [t for t, s in SAID.items() for _ in s],
    [i for s in SAID.values() for i in range(len(s))],
    "".join(SAID.values()),
    labels="wxyz",
)
SOFT = {
    "one": SoftLabels.of([[0.02, 0.6, 0.38, 0]], ["split"], list("wxyz")),
    "two": SoftLabels.of([[0.5, 0.3, 0.2]], ["split"], list("yxv")),
}
DATA = ChartData(votes=VOTES, soft=SOFT, gold=SoftLabels.gold(["split"], ["z"], list("wxyz")))


def test_bars_marks_and_labels() -> None:
    figure = draw_figure(methods.make("task-votes"), DATA)
    (ax,) = (ax for ax in figure.axes if ax.axison)
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["x", "y", "z (gold)"]  # w has 2% at most
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], [0.4, 0.4, 0.2])
    one, two = (np.asarray(marks.get_offsets())[:, 0] for marks in ax.collections)
    np.testing.assert_allclose(one, [0.6, 0.38, 0])
    np.testing.assert_allclose(two, [0.3, 0.5, 0])
    assert "People disagree most on split (x 2, y 2, z 1, gold label z)" in figure.caption
    assert "of 2 tasks with at least 5 votes" in figure.caption and "one x 60%; two y 50%" in figure.caption


def test_a_task_by_name_and_several_tasks() -> None:
    assert draw_figure(methods.make("task-votes", task_name="few"), DATA).caption.startswith(
        "The task few (x 1, y 1, z 1)."
    )
    assert "The 2 tasks on which people disagree most" in draw_figure(methods.make("task-votes", k=2), DATA).caption
    with pytest.raises(UnknownName, match="no task called 'splt'; did you mean 'split'"):
        draw_figure(methods.make("task-votes", task_name="splt"), DATA)


def test_tasks_with_an_image_or_text_come_first_and_show_it() -> None:
    data = ChartData(votes=VOTES, contents=TaskContents(texts={"easy": "a text"}))
    figure = draw_figure(methods.make("task-votes"), data)
    assert "People disagree most on easy" in figure.caption and "a text" in figure.to_svg()


def test_the_figure_is_as_high_as_its_labels_need() -> None:
    many = Votes.of(["a", "a"], [1, 2], ["l1", "l2"], labels=[f"l{i}" for i in range(30)])
    heights = [methods.make("task-votes").size(ChartData(votes=votes))[1] for votes in (many, VOTES)]
    assert heights[0] == heights[1] < 2
