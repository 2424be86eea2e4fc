"""The chart labels: shares of votes, soft and gold labels, and the pairs of labels that votes on the same task differ in."""

import numpy as np
import pytest

import plurivox as pv
from plurivox import aggregate
from plurivox.charts import ChartData
from plurivox.charts._figure import draw_figure
from plurivox.charts._shared.label_pairs import most_used_labels, pairs_of_votes
from plurivox.charts._shared.label_shares import shares_of_tables
from plurivox.charts.labels import Labels
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

SAID = {"t0": "xxy", "t1": "yz", "t2": "xxx", "t3": "z"}
VOTES = Votes.of(
    [t for t, said in SAID.items() for _ in said],
    [f"w{i}" for said in SAID.values() for i in range(len(said))],
    "".join(SAID.values()),
)
GROUPS = most_used_labels(VOTES.labels, np.array([3.0, 2.0, 1.0]), 20)


def test_shares_of_votes_soft_labels_and_gold_labels() -> None:
    soft = aggregate.methods.make("vote-shares").fit(VOTES).soft
    gold = SoftLabels.gold(["t0", "t1", "unseen"], ["x", "y", "z"])
    votes, mean, known = shares_of_tables(ChartData(votes=VOTES, soft={"vote-shares": soft}, gold=gold), GROUPS)
    np.testing.assert_allclose(votes.share, [5 / 9, 2 / 9, 2 / 9])
    np.testing.assert_allclose(mean.share, [(2 / 3 + 1) / 4, (1 / 3 + 1 / 2) / 4, (1 / 2 + 1) / 4])
    np.testing.assert_allclose(known.share, [0.5, 0.5, 0])
    assert known.name == "gold labels (2 of 4 tasks)" and known.low is not None and (known.low <= known.share).all()


def test_the_caption_compares_gold_labels_with_votes_on_the_same_tasks() -> None:
    gold = SoftLabels.gold(["t3"], ["z"], list("xyz"))
    caption = draw_figure(Labels(), ChartData(votes=VOTES, gold=gold)).caption
    assert "9 votes for 3 labels, 56% of them for “x”" in caption
    assert "On the 1 task with gold labels" in caption and "0% of the gold labels" not in caption.replace("100%", "")


def test_pairs_are_the_coincidences_of_krippendorffs_alpha() -> None:
    found = pairs_of_votes(VOTES, GROUPS)
    assert found.differing == pytest.approx((2 + 2) / 8)  # of t0: 2 x 2 / (3 - 1); of t1: 2; of 8 votes on such tasks
    np.testing.assert_allclose(found.shares[1, 0], 0.5)
    np.testing.assert_allclose(found.shares[2, 1], 0.5)
    shared = VOTES.on(["t0", "t1", "t2"])
    share = np.bincount(shared.label) / 8
    expected = 1 - (share * (share * 8 - 1) / 7).sum()  # of two votes drawn from all votes
    assert 1 - found.differing / expected == pytest.approx(pv.score(shared, "krippendorff-alpha").raw[0])


def test_cells_add_up_to_one_and_many_labels_are_grouped() -> None:
    rng = np.random.default_rng(0)
    task, label = np.repeat(np.arange(200), 3), rng.integers(30, size=600)
    votes = Votes.of(task, np.tile(np.arange(3), 200), label)
    groups = most_used_labels(votes.labels, np.bincount(label), 5)
    shares = pairs_of_votes(votes, groups).shares
    assert groups.n_groups == 6 and np.tril(shares).sum() == pytest.approx(1)
    figure = draw_figure(Labels(k=5), ChartData(votes=votes))
    largest = np.tril(shares[:5, :5]).max()
    assert f"the largest {largest:.0%} for" in figure.caption  # of single labels, not of the group
    names = [one.get_text() for one in figure.axes[1].get_yticklabels()]
    assert names[-1] == "other (25 labels)" and len(names) == 6


def test_two_labels_have_no_panel_of_pairs() -> None:
    votes = Votes.of(["a", "a"], ["v", "w"], ["no", "yes"])
    figure = draw_figure(Labels(), ChartData(votes=votes))
    assert len(figure.axes) == 1 and "differ in 100.0% of all cases." in figure.caption
