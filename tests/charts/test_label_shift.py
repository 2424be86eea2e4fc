"""Label shift: its distances are those of `evaluate`, the tasks below are those with the largest."""

from collections.abc import Callable

import numpy as np
import pytest

import plurivox as pv
from plurivox import evaluate
from plurivox.charts import ChartData, methods
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.label_tables import tables_to_compare
from plurivox.core.errors import InputError
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.io import Dataset

LABELS = ["bad", "fair", "good"]
LEFT = SoftLabels.of([[0.8, 0.2, 0], [0, 0.5, 0.5], [1, 0, 0]], ["a", "b", "only left"], LABELS, scale=[1, 2, 3])
RIGHT = SoftLabels.of([[0.3, 0.7], [0.5, 0.5]], ["b", "a"], ["good", "bad"])


@pytest.mark.parametrize(
    ("name", "of_all"),
    [
        ("total-variation", evaluate.total_variation),
        ("jensen-shannon", evaluate.jensen_shannon_distance),
        ("wasserstein", evaluate.wasserstein),
        ("sorted-wasserstein", evaluate.sorted_wasserstein),
    ],
)
def test_the_mean_distance_is_that_of_evaluate(name: str, of_all: Callable[[SoftLabels, SoftLabels], float]) -> None:
    data = ChartData(soft={"one": LEFT, "two": RIGHT})
    tables = tables_to_compare(data)
    assert tables is not None and tables.left.tasks.tolist() == ["a", "b"] == tables.right.tasks.tolist()
    assert tables.distances(name).mean() == pytest.approx(of_all(LEFT, RIGHT))  # type: ignore[arg-type]
    figure = draw_figure(methods.make("label-shift", distance=name), data)
    assert f"between one and two on 2 tasks: {of_all(LEFT, RIGHT):.3f} on average" in figure.caption


def test_bars_and_titles_of_the_most_different_task() -> None:
    figure = draw_figure(methods.make("label-shift", k=1), ChartData(soft={"one": LEFT, "two": RIGHT}))
    (bars,) = [ax for ax in figure.axes if ax.get_title("left") == "b: distance 0.70"]
    assert [tick.get_text() for tick in bars.get_yticklabels()] == ["bad", "fair", "good"]  # in the order of the scale
    np.testing.assert_allclose([bar.get_width() for bar in bars.patches], [0, 0.5, 0.5, 0.7, 0, 0.3])


def test_entropy_gain_is_that_of_softening() -> None:
    found = evaluate.softening(LEFT, RIGHT)
    assert found.tasks.tolist() == ["b"] and found.value[0] == pytest.approx(0.0823, abs=1e-4)
    figure = draw_figure(
        methods.make("label-shift", distance="entropy-gain"), ChartData(soft={"one": LEFT, "two": RIGHT})
    )
    assert "b: gain 0.0823" in [ax.get_title("left") for ax in figure.axes]


def test_one_table_is_compared_with_votes_or_gold_and_tasks_without_votes_are_left_out() -> None:
    votes = Votes.of(["a", "a", "b"], [1, 2, 1], ["bad", "good", "good"], tasks=["a", "b", "only left"])
    with_votes = tables_to_compare(ChartData(name="mine", votes=votes, soft={"one": LEFT}))
    assert with_votes is not None and with_votes.names == ("votes of mine", "one") and len(with_votes) == 2
    shares = SoftLabels.from_vote_shares(votes)
    with_gold = tables_to_compare(
        ChartData(votes=votes, soft={"vote-shares": shares}, gold=SoftLabels.gold("a", ["bad"]))
    )
    assert with_gold is not None and with_gold.names == ("vote-shares", "gold") and with_gold.same_label().all()


def test_two_data_sets_are_compared_by_their_shares_of_votes() -> None:
    one, two = (
        Dataset(name, votes=Votes.of("aab", [1, 2, 1], said)) for name, said in (("one", "xxy"), ("two", "xyy"))
    )
    caption = pv.plot([one, two], "label-shift").caption
    assert "between votes of one and votes of two on 2 tasks: 0.250 on average" in caption
    with pytest.raises(InputError, match="the chart workload draws one data set; got 2: 'one', 'two'"):
        pv.plot([one, two], "workload")


def test_what_is_missing_is_named() -> None:
    for data, message in (
        (ChartData(soft={"one": LEFT}), r"needs two tables of labels: .*--against FILE"),
        (ChartData(soft={"one": RIGHT, "two": RIGHT}), r"needs labels on a scale"),
    ):
        with pytest.raises(InputError, match=message):
            draw_figure(methods.make("label-shift", distance="wasserstein"), data)
