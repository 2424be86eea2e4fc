"""Transformations of soft labels give the same results for dense and sparse storage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowds import distributions
from plurivox.core import soft_transforms
from plurivox.core.errors import InputError, OptionError, UnknownName
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_rows_dense_sparse import Candidates, Dense


def dense(prob: np.ndarray) -> SoftLabels:
    return SoftLabels.of(prob, tasks=range(len(prob)), labels=range(prob.shape[1]))


def sparse(prob: np.ndarray) -> SoftLabels:
    """Return sparse soft labels that list the probabilities above the lowest of each row; the others are the rest."""
    listed = prob > prob.min(1, keepdims=True)
    row, label = np.nonzero(listed)
    start = np.searchsorted(row, np.arange(len(prob) + 1))
    mass = prob[row, label]
    rest = prob.min(1) * (~listed).sum(1)
    body = Candidates(start, label, mass, rest, prob.shape[1])
    return SoftLabels(body, np.arange(len(prob)), np.arange(prob.shape[1]))


@given(distributions(), st.floats(0, 1))
def test_smooth(prob: np.ndarray, beta: float) -> None:
    expected = (1 - beta) * prob + beta / prob.shape[1]
    np.testing.assert_allclose(soft_transforms.smooth(dense(prob), beta).prob, expected, atol=1e-12)
    np.testing.assert_allclose(soft_transforms.smooth(sparse(prob), beta).prob, expected, atol=1e-9)


@given(distributions(), st.floats(0.1, 5))
def test_temperature_scale(prob: np.ndarray, power: float) -> None:
    expected = prob**power / (prob**power).sum(1, keepdims=True)
    np.testing.assert_allclose(soft_transforms.temperature_scale(dense(prob), power).prob, expected, atol=1e-12)
    np.testing.assert_allclose(soft_transforms.temperature_scale(sparse(prob), power).prob, expected, atol=1e-9)
    np.testing.assert_allclose(soft_transforms.temperature_scale(dense(prob), 0).prob, 1 / prob.shape[1])


def test_high_powers_do_not_underflow() -> None:
    even = dense(np.full((1, 1000), 1e-3))
    np.testing.assert_allclose(soft_transforms.temperature_scale(even, 500).prob, 1e-3)


@given(distributions())
def test_harden_and_uniform(prob: np.ndarray) -> None:
    for soft in (dense(prob), sparse(prob)):
        hard = soft_transforms.harden(soft)
        assert (
            hard.most_probable_label_codes().tolist() == soft.most_probable_label_codes().tolist()
            and (hard.confidence == 1).all()
        )
        np.testing.assert_allclose(soft_transforms.uniform_soft_labels_like(soft).prob, 1 / prob.shape[1])


def test_random_labels_depend_on_the_seed_only() -> None:
    soft = dense(np.eye(4)[np.arange(2000) % 4])
    drawn = soft_transforms.random_soft_labels_like(soft, seed=3).prob
    np.testing.assert_array_equal(drawn, soft_transforms.random_soft_labels_like(soft, seed=3).prob)
    assert (drawn != soft_transforms.random_soft_labels_like(soft, seed=4).prob).any()
    np.testing.assert_allclose(drawn.mean(0), 0.25, atol=0.01)
    # normalised uniform numbers deviate less than draws of Dirichlet(1), whose standard deviation is .194
    assert drawn.std() < 0.16


@given(distributions(max_labels=4), distributions(max_labels=4))
def test_blend(one: np.ndarray, two: np.ndarray) -> None:
    n, k = min(len(one), len(two)), min(one.shape[1], two.shape[1])
    one, two = ((p[:n, :k] + 1e-3) / (p[:n, :k] + 1e-3).sum(1, keepdims=True) for p in (one, two))
    expected = (one + two + two) / 3
    np.testing.assert_allclose(
        soft_transforms.mean_of_soft_labels([dense(one), dense(two), sparse(two)]).prob, expected, atol=1e-9
    )
    listed = soft_transforms._mean_of_rows_sparse([sparse(one).body, Dense(two), sparse(two).body], k)
    np.testing.assert_allclose(listed.dense_block(slice(None)), expected, atol=1e-9)


@given(distributions(), distributions())
def test_overlay(prob: np.ndarray, other: np.ndarray) -> None:
    k = min(prob.shape[1], other.shape[1])
    prob, known = prob[:, :k] + 0.1, np.eye(k)[np.arange(len(other)) % k]
    prob /= prob.sum(1, keepdims=True)
    names = np.arange(len(known)) * 2  # every second name, so that only some are tasks of `prob`
    known_labels = SoftLabels.of(known, tasks=names, labels=range(k))
    expected = prob.copy()
    ours = names < len(prob)
    expected[names[ours]] = known[ours]
    for soft in (dense(prob), sparse(prob)):
        np.testing.assert_allclose(soft_transforms.overlay(soft, known_labels).prob, expected, atol=1e-9)


def test_invalid_options_raise() -> None:
    soft = dense(np.eye(2))
    with pytest.raises(OptionError, match="beta must be 0 to 1"):
        soft_transforms.smooth(soft, 1.5)
    with pytest.raises(OptionError, match="power must be 0 or more"):
        soft_transforms.temperature_scale(soft, -1)
    with pytest.raises(InputError, match="same tasks and labels"):
        soft_transforms.mean_of_soft_labels([soft, dense(np.eye(3))])
    with pytest.raises(InputError, match="nothing to blend"):
        soft_transforms.mean_of_soft_labels([])


def test_labels_are_renamed_and_labels_of_one_name_are_added() -> None:
    soft = SoftLabels.of([[0.2, 0.3, 0.5], [0.1, 0.9, 0.0]], ["a", "b"], ["Cat", "cat", "dog"], support=[3, 4])
    one = soft_transforms.rename_labels(soft, {"Cat": "cat"})
    assert one.labels.tolist() == ["cat", "dog"] and one.prob.round(3).tolist() == [[0.5, 0.5], [1.0, 0.0]]
    swapped = soft_transforms.rename_labels(SoftLabels.gold(["a", "b"], [0, 1]), {0: 1, 1: 0})
    assert swapped.hard().tolist() == ["1", "0"]
    with pytest.raises(UnknownName, match="there is no label 'cow'; available: Cat, cat, dog"):
        soft_transforms.rename_labels(soft, {"cow": "cat"})
