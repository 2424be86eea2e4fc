"""two-third: decided tasks, options, and saving."""

import numpy as np

from plurivox.aggregate import TwoThird
from plurivox.core.results import Fit
from plurivox.core.votes import Votes

# decided by 2 of 3; undecided with 3 of 5; undecided with one vote; no votes; decided by 4 of 6
COUNTS = np.array([[2, 1, 0], [3, 1, 1], [0, 1, 0], [0, 0, 0], [1, 1, 4]])
VOTES = Votes.from_counts(COUNTS, list("abcde"), list("xyz"))


def test_decided_tasks_and_soft_labels_of_undecided_tasks() -> None:
    fit = TwoThird().fit(VOTES)
    assert fit.found["decided"].tolist() == [True, False, False, False, True] and fit.found["undecided"] == 3
    np.testing.assert_allclose(fit.soft.prob[[0, 1, 2, 4]], [[1, 0, 0], [0.6, 0.2, 0.2], [0, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(fit.soft.prob[3], COUNTS.sum(0) / COUNTS.sum())
    even = TwoThird(otherwise="even").fit(VOTES)
    np.testing.assert_allclose(even.soft.prob[1:3], 1 / 3)
    assert "decided" not in repr(fit).split("undecided")[0] and "array" not in repr(fit)


def test_share_and_least_are_options() -> None:
    assert TwoThird(share=0.6, least=1).fit(VOTES).found["undecided"] == 1
    tied = Votes.from_counts(np.array([[2, 2]]), ["a"], ["x", "y"])
    # both labels reach the share, so the task is undecided
    assert TwoThird(share=0.5).fit(tied).found["undecided"] == 1


def test_decided_is_saved_with_the_fit(tmp_path: object) -> None:
    path = f"{tmp_path}/fit.npz"
    TwoThird().fit(VOTES).save(path)
    assert Fit.load(path).found["decided"].tolist() == [True, False, False, False, True]
