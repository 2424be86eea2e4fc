"""Hardest tasks: the order is that of the score, with votes and known labels in words."""

import pytest

import plurivox as pv
from chart_inputs import small_image
from plurivox.charts import ChartData, methods
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.hardest_tasks import worst_tasks
from plurivox.core.errors import InputError, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.task_contents import TaskContents
from plurivox.core.votes import Votes

SAID = {"easy": "xxxx", "split": "xxyy", "torn": "xy", "mixed": "xxxy"}
VOTES = Votes.of(
    [t for t, s in SAID.items() for _ in s], [i for s in SAID.values() for i in range(len(s))], "".join(SAID.values())
)
GOLD = SoftLabels.gold(["easy", "split", "mixed"], ["x", "y", "y"], ["x", "y"])
DATA = ChartData(votes=VOTES, gold=GOLD, scores=(pv.score(VOTES, "entropy"),))


def test_worst_first_and_of_equal_ones_those_with_more_votes() -> None:
    found = worst_tasks(DATA.scores[0], 3, VOTES, GOLD)
    assert [(one.name, one.votes, one.gold) for one in found] == [
        ("split", "x 2, y 2", "y"),
        ("torn", "x 1, y 1", None),
        ("mixed", "x 3, y 1", "y"),
    ]
    assert [one.gold_has_most_votes for one in found] == [True, False, False]


def test_bars_and_caption() -> None:
    figure = draw_figure(methods.make("hardest", k=3), DATA)
    bars = next(ax for ax in figure.axes if ax.axison)
    assert [tick.get_text() for tick in bars.get_yticklabels()] == ["split", "torn", "mixed"]
    assert [bar.get_width() for bar in bars.patches] == pytest.approx([0.6931, 0.6931, 0.5623], abs=1e-4)
    assert "The worst 3 tasks by entropy (nats) of 4 tasks: 0.56 to 0.69" in figure.caption
    assert "The gold label has the most votes, alone or tied, on 1 of 2." in figure.caption
    assert "1 further task has the same score" in draw_figure(methods.make("hardest", k=1), DATA).caption


def test_images_and_texts_are_drawn_and_rows_have_labels() -> None:
    contents = TaskContents(images={name: small_image(i) for i, name in enumerate(SAID)})
    data = ChartData(votes=VOTES, gold=GOLD, scores=DATA.scores, contents=contents)
    figure = draw_figure(methods.make("hardest", k=2), data)
    assert (
        sum(len(ax.images) for ax in figure.axes) + sum(len(one.images) for ax in figure.axes for one in ax.child_axes)
        == 2
    )
    rows = draw_figure(methods.make("hardest", per_label=True, k=1), data)
    assert "The worst 2 tasks of 2 labels" in rows.caption and "<image" in rows.to_svg()
    texts = ChartData(scores=DATA.scores, contents=TaskContents(texts={"torn": "<b>two</b> words"}))
    assert "&lt;b&gt;two&lt;/b&gt; words" in draw_figure(methods.make("hardest", k=2), texts).to_svg()


def test_a_score_by_name() -> None:
    data = ChartData(votes=VOTES, scores=(*DATA.scores, pv.score(VOTES, "posterior-entropy")))
    assert "by posterior-entropy" in draw_figure(methods.make("hardest", by="posterior-entropy"), data).caption
    with pytest.raises(UnknownName, match="did you mean 'entropy'"):
        draw_figure(methods.make("hardest", by="entopy"), data)
    with pytest.raises(InputError, match="needs scores of tasks"):
        draw_figure(methods.make("hardest"), ChartData(scores=(pv.score(VOTES, "agreement-with-rest"),)))
