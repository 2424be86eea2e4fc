"""weighted-dawid-skene against a plain loop."""

import numpy as np

from crowds import crowd, soft_crowd
from plurivox.aggregate import DawidSkene, WeightedDawidSkene
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def test_results_equal_a_plain_loop() -> None:
    for votes in (Votes.of(**crowd(seed=6)), soft_crowd()):
        matrices = DawidSkene().fit(votes).confusion.matrices
        prob = np.zeros((votes.n_tasks, votes.n_labels))
        for task, worker, label, weight in zip(votes.task, votes.worker, votes.label, votes.weights, strict=True):
            prob[task, label] += weight * matrices[worker, label, label]
        fit = WeightedDawidSkene().fit(votes)
        np.testing.assert_allclose(fit.soft.prob, prob / prob.sum(1, keepdims=True), atol=1e-12)
        np.testing.assert_array_equal(fit.confusion.matrices, matrices)


def test_a_task_whose_weights_are_all_zero_keeps_its_vote_shares() -> None:
    """With all labels known and no smoothing, worker 0 is never right on label 1, the only label of task 4."""
    votes = Votes.of([0, 1, 2, 3, 4], [0, 0, 0, 0, 0], [0, 1, 0, 1, 1], tasks=range(6))
    fit = WeightedDawidSkene(smooth=0.0).fit(votes, gold=SoftLabels.gold([0, 1, 2, 3], [0, 0, 1, 0]))
    np.testing.assert_allclose(fit.soft.prob[:5], [[1, 0], [1, 0], [0, 1], [1, 0], [0, 1]])
    np.testing.assert_allclose(fit.soft.prob[5], fit.prior)
