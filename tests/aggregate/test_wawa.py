"""wawa against a plain loop, and against crowd-kit 1.4.2."""

from collections import defaultdict

import numpy as np

from crowds import crowd, soft_crowd
from plurivox.aggregate import Wawa
from plurivox.core.votes import Votes


def plain_wawa(votes: Votes) -> tuple[np.ndarray, np.ndarray]:
    """Return (prob, skill), computed by plain loops."""
    rows = list(zip(votes.task, votes.worker, votes.label, votes.weights, strict=True))
    majority = votes.counts().argmax(1)
    right, given = defaultdict(float), defaultdict(float)
    for task, worker, label, weight in rows:
        right[worker] += weight * (label == majority[task])
        given[worker] += weight
    prob = np.zeros((votes.n_tasks, votes.n_labels))
    for task, worker, label, weight in rows:
        prob[task, label] += weight * right[worker] / given[worker]
    skill = [right[worker] / given[worker] for worker in range(votes.n_workers)]
    return prob / prob.sum(1, keepdims=True), np.array(skill)


def test_results_equal_a_plain_loop_for_plain_and_soft_votes() -> None:
    for votes in (Votes.of(**crowd(seed=3)), soft_crowd(seed=1)):
        prob, skill = plain_wawa(votes)
        fit = Wawa().fit(votes)
        np.testing.assert_allclose(fit.soft.prob, prob, atol=1e-12)
        np.testing.assert_allclose(fit.ability, skill, atol=1e-12)


def test_results_equal_crowd_kit() -> None:
    """The third task is a tie of three labels; both implementations take the first."""
    votes = Votes.of(task=[1, 1, 1, 2, 2, 2, 3, 3, 3], worker=[1, 2, 3] * 3, label=list("ababbaabc"))
    fit = Wawa().fit(votes)
    np.testing.assert_allclose(fit.ability, [1, 1 / 3, 1 / 3])
    np.testing.assert_allclose(fit.soft.prob, [[0.8, 0.2, 0], [0.2, 0.8, 0], [0.6, 0.2, 0.2]])
    assert fit.found == {"ties": 1}
