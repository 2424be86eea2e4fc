"""majority-vote: ties."""

import numpy as np
import pytest

from plurivox.aggregate import MajorityVote
from plurivox.core.votes import Votes

TIED = Votes.of(["a", "a", "b", "b", "c"], [1, 2, 1, 2, 1], ["x", "y", "x", "y", "y"])


@pytest.mark.parametrize(("ties", "first_row"), [("first", [1, 0]), ("share", [0.5, 0.5])])
def test_ties_follow_the_option_and_are_counted(ties: str, first_row: list) -> None:
    fit = MajorityVote(ties=ties).fit(TIED)  # type: ignore[arg-type]
    assert fit.soft.prob[0].tolist() == first_row and fit.soft.prob[2].tolist() == [0, 1] and fit.found == {"ties": 2}


def test_random_ties_depend_on_the_seed_and_reach_every_tied_label() -> None:
    votes = Votes.of(np.repeat(np.arange(300), 2), [1, 2] * 300, ["x", "y"] * 300)
    a, b, c = (MajorityVote(ties="random", seed=seed).fit(votes).soft.most_probable_label_codes() for seed in (1, 1, 2))
    assert (a == b).all() and (a != c).any() and 100 < a.sum() < 200


def test_sums_of_soft_votes_that_differ_by_rounding_are_tied() -> None:
    votes = Votes.of(["a"] * 4, [1, 1, 2, 2], ["x", "y"] * 2, weight=[0.1 + 0.2, 0.7, 0.7, 0.3], answer=[1, 1, 2, 2])
    assert MajorityVote().fit(votes).found == {"ties": 1}


def test_very_many_labels_stay_sparse() -> None:
    n, k = 8000, 9000
    fit = MajorityVote(ties="share").fit(Votes.of(range(n), [0] * n, np.arange(n) % k, labels=range(k)))
    assert fit.soft.is_sparse and fit.soft.most_probable_label_codes()[:3].tolist() == [0, 1, 2]
