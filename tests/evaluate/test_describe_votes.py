"""Statistics of votes equal values computed by hand and published values."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.evaluate import describe
from plurivox.io import read


def test_statistics_of_votes_equal_values_computed_by_hand() -> None:
    votes = Votes.of(
        task=["a", "a", "a", "b", "b", "c", "d"], worker=[1, 2, 3, 1, 2, 1, 1], label=["x", "x", "y", "x", "y", "z", "z"],
        tasks=["a", "b", "c", "d", "e"], labels=["x", "y", "z", "q"], seconds=[1, 2, 3, 4, 5, 6, 7],
    )  # fmt: skip
    about = describe(votes, SoftLabels.gold(["a", "b", "c", "e"], ["x", "z", "z", "x"]))
    assert (about.n_tasks, about.n_tasks_without_votes, about.n_labels_unused, about.n_gold) == (5, 1, 1, 3)
    assert about.votes_per_task == (7 / 4, 1, 3) and about.votes_per_worker == (2, 1, 4)
    assert about.observed_agreement == pytest.approx((1 / 3 + 0) / 2)
    assert about.share_tied == 1 / 4 and about.share_unanimous == 2 / 4 and about.share_at_most_two_labels == 1
    assert about.vote_accuracy == pytest.approx(3 / 6) and about.majority_accuracy == pytest.approx(2 / 3)
    assert about.worker_accuracy == pytest.approx((2 / 3 + 1 / 2 + 0) / 3) and about.share_good_workers == 0
    assert about.share_gold_unvoted == pytest.approx(1 / 3) and about.majority_label_share == pytest.approx(2 / 3)
    assert about.seconds_median == 4


def test_counts_and_soft_answers_agree_with_plain_votes() -> None:
    plain = describe(Votes.of(["a"] * 3, [1, 2, 3], ["x", "x", "y"]))
    counts = describe(Votes.from_counts(np.array([[2, 1]]), ["a"], ["x", "y"]))
    soft = describe(Votes.of(["a"] * 3, [1, 2, 3], ["x", "x", "y"], weight=[1, 1, 1], answer=[1, 2, 3]))
    assert plain.observed_agreement == counts.observed_agreement == pytest.approx(soft.observed_agreement) == 1 / 3
    assert plain.mean_entropy == counts.mean_entropy and counts.votes_per_worker is None
    assert dict(counts.rows())["workers"] == "unknown: votes without names"


def test_statistics_of_labelme_equal_published_values(data_set: Callable[[str], Path]) -> None:
    data = read(data_set("labelme"))
    about = describe(data.crowd(), data.gold)
    assert about.votes_per_task[0] == pytest.approx(2.547) and about.majority_accuracy == pytest.approx(0.766)
    assert about.worker_accuracy == pytest.approx(0.692, abs=5e-4) and about.share_good_workers == pytest.approx(
        0.39, abs=5e-3
    )
    assert about.share_gold_unvoted == pytest.approx(0.111, abs=5e-4)
    single = (data.crowd().support == 1).mean()  # the published .732 counts a task with a single vote as agreement
    assert about.observed_agreement * (1 - single) + single == pytest.approx(0.732, abs=1e-3)


@pytest.mark.filterwarnings("ignore::plurivox.core.errors.PlurivoxWarning")
@pytest.mark.parametrize(("name", "accuracy"), [("cifar10h", 0.9921), ("adult2", 0.7598), ("pos_twitter", 0.7818)])
def test_majority_vote_matches_the_index(data_set: Callable[[str], Path], name: str, accuracy: float) -> None:
    data = read(data_set(name))
    assert describe(data.crowd(), data.gold).majority_accuracy == pytest.approx(accuracy, abs=1e-4)
