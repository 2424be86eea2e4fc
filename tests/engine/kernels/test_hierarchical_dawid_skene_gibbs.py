"""Passes of the Gibbs sampler: compiled and plain Python agree, and the draws have the distribution they should have."""

import numpy as np
import pytest

from plurivox.engine.kernels import hierarchical_dawid_skene_gibbs as gibbs

EVEN = np.full((2, 2), 0.5)


@pytest.mark.parametrize("weight", [None, np.array([1.0, 0.5, 0.5])], ids=["plain", "weighted"])
def test_labels_are_drawn_from_their_posterior(weight: np.ndarray | None) -> None:
    """One task with three votes, many times: the frequency of each label is its posterior."""
    confusion = np.array([[0.9, 0.3], [0.1, 0.7]] * 3)  # [worker and said, true]
    key = np.array([0, 3, 5], np.uint32)  # worker 0 says 0, workers 1 and 2 say 1
    power = np.ones(3) if weight is None else weight
    expected = np.array([0.6, 0.4]) * (confusion[key] ** power[:, None]).prod(0)
    n = 4000
    start, keys = np.arange(n + 1) * 3, np.tile(key, n)
    weights = None if weight is None else np.tile(weight, n)
    results = []
    for kernel in (gibbs.draw_labels_adding_counts, gibbs.draw_labels_adding_counts.py_func):
        n_true, counts = np.zeros(2), np.zeros(12)
        rng = np.random.default_rng(0)
        kernel(start, keys, weights, np.log([0.6, 0.4]), np.log(confusion).ravel(), rng, n_true, counts)
        results.append((n_true, counts))
    (n_true, counts), (same, _) = results
    np.testing.assert_array_equal(n_true, same)
    np.testing.assert_allclose(n_true / n, expected / expected.sum(), atol=0.025)
    np.testing.assert_allclose(counts.reshape(6, 2)[key], power[:, None] * n_true)


def test_matrices_are_drawn_from_their_dirichlet_posterior_and_auxiliary_counts_have_their_mean() -> None:
    """Workers without votes have rows with the prior mean; 1 + c / (c + 1) + c / (c + 2) new tables for 3 votes in a cell."""
    n, strength, share, crowd = 3000, 4.0, 0.5, np.array([[0.8, 0.2], [0.3, 0.7]])
    counts = np.zeros((2 * n, 2, 2))  # (worker, said, true)
    counts[n:, 1, 0] = 3  # the second half says 1 three times where 0 is true
    accuracy, matrices, own, of_crowd = np.full(2 * n, 0.9), np.empty((2 * n, 2, 2)), np.zeros((2, 2)), np.zeros((2, 2))
    rng = np.random.default_rng(1)
    gibbs.draw_workers_adding_auxiliary_counts(
        counts, strength, share, EVEN * 2 - np.eye(2), crowd, (9e6, 1e6), rng, accuracy, matrices, own, of_crowd
    )
    mean = np.array([[0.85, 0.15], [0.2, 0.8]])  # of own accuracy .9 and the crowd's rows
    np.testing.assert_allclose(matrices[:n].mean(0).T, mean, atol=0.02)
    np.testing.assert_allclose(matrices[n:].mean(0)[:, 0], [4 * 0.85 / 7, (3 + 4 * 0.15) / 7], atol=0.02)
    pseudo = strength * mean[0, 1]
    tables = 1 + pseudo / (pseudo + 1) + pseudo / (pseudo + 2)
    np.testing.assert_allclose([own[0, 1] / n, of_crowd[0, 1] / n], [tables / 3, tables * 2 / 3], atol=0.05)
    assert own.sum() == own[0, 1] and accuracy.std() < 0.001
