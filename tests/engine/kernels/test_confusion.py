"""The kernels of confusion matrices against plain numpy."""

import numpy as np
import pytest

from plurivox.engine.kernels import confusion, confusion_tables
from plurivox.engine.kernels.simd import PAD, padded, quads_of


class Case:
    """Random votes and parameters over some labels, and what plain numpy makes of them."""

    def __init__(self, n_labels: int, weighted: bool, n_tasks: int = 60, n_workers: int = 7) -> None:
        chance = np.random.default_rng(n_labels)
        size = chance.integers(0, 9, n_tasks)
        self.start = np.concatenate([[0], np.cumsum(size)])
        self.task, n = np.repeat(np.arange(n_tasks), size), int(size.sum())
        worker, said = (
            np.concatenate([np.sort(chance.integers(0, n_workers, s)) for s in size]),
            chance.integers(0, n_labels, n),
        )
        self.key = (worker * n_labels + said).astype(np.uint32)
        self.weight = chance.random(n) if weighted else None
        self.w = np.ones(n) if self.weight is None else self.weight
        self.log_prior = np.log(chance.dirichlet(np.ones(n_labels)))
        self.table = np.log(chance.dirichlet(np.ones(n_labels), (n_workers, n_labels)).transpose(0, 2, 1))
        self.log = np.repeat(self.log_prior[None], n_tasks, 0)
        np.add.at(self.log, self.task, self.w[:, None] * self.table.reshape(-1, n_labels)[self.key])
        self.value = np.logaddexp.reduce(self.log, axis=1)
        self.posterior = np.exp(self.log - self.value[:, None])
        self.votes = (0, n_tasks, self.start, self.key, self.weight)

    def counts(self, posterior: np.ndarray) -> np.ndarray:
        counts = np.zeros(self.table.size).reshape(-1, posterior.shape[1])
        np.add.at(counts, self.key, self.w[:, None] * posterior[self.task])
        return counts.ravel()


CASES = [(k, weighted) for k in (1, 2, 3, 4, 5, 10, 16, 17, 33, 40) for weighted in (False, True)]
cases = pytest.mark.parametrize("case", [Case(*one) for one in CASES], ids=[f"K={k} {w}" for k, w in CASES])


def spare(n: int) -> np.ndarray:
    return np.zeros(n + PAD)


@cases
def test_a_sweep(case: Case) -> None:
    k = len(case.log_prior)
    n_true, counts = spare(k), spare(case.table.size)
    value = confusion.sweep(*case.votes, case.log_prior, padded(case.table), quads_of(k), n_true, counts)
    np.testing.assert_allclose(value, case.value.sum(), rtol=1e-13)
    np.testing.assert_allclose(n_true[:k], case.posterior.sum(0), rtol=1e-12)
    np.testing.assert_allclose(counts[:-PAD], case.counts(case.posterior), rtol=1e-11)
    assert not counts[-PAD:].any()


@cases
def test_a_hard_sweep(case: Case) -> None:
    k = len(case.log_prior)
    n_true, counts = spare(k), spare(case.table.size)
    quads = quads_of(k, coarse=True)
    value = confusion.hard_sweep(*case.votes, case.log_prior, padded(case.table), quads, n_true, counts)
    np.testing.assert_allclose(value, case.log.max(1).sum(), rtol=1e-13)
    labels = np.eye(k)[case.log.argmax(1)]
    np.testing.assert_array_equal(n_true[:k], labels.sum(0))
    np.testing.assert_allclose(counts[:-PAD], case.counts(labels), rtol=1e-12)


@cases
def test_what_is_believed_and_counting_it(case: Case) -> None:
    k, n_tasks = len(case.log_prior), case.votes[1]
    posterior, agree = np.empty(n_tasks * k), np.zeros(7)
    quads = quads_of(k, coarse=True)
    confusion.believe(*case.votes, case.log_prior, padded(case.table), quads, posterior, agree)
    np.testing.assert_allclose(posterior.reshape(-1, k), case.posterior, rtol=1e-11)
    n_true, counts = spare(k), spare(case.table.size)
    confusion.count(*case.votes, posterior, k, quads, n_true, counts)
    np.testing.assert_allclose(n_true[:k], case.posterior.sum(0), rtol=1e-12)
    np.testing.assert_allclose(counts[:-PAD], case.counts(case.posterior), rtol=1e-11)


@cases
def test_vote_shares(case: Case) -> None:
    k, n_tasks = len(case.log_prior), case.votes[1]
    share = np.empty(n_tasks * k)
    confusion.shares(*case.votes, k, share)
    counts = np.zeros((n_tasks, k))
    np.add.at(counts, (case.task, case.key % k), case.w)
    total = counts.sum(1, keepdims=True)
    wanted = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / k)
    np.testing.assert_allclose(share.reshape(-1, k), wanted, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 6, 10, 17, 33])
def test_shares_in_logs_and_back(k: int) -> None:
    chance = np.random.default_rng(0)
    counts, pseudo = chance.random((5, k, k)), chance.random((k, k))
    counts[2, :, k - 1], pseudo[:, k - 1] = 0, 0  # worker 2 was never seen where the last label is true
    counts[1, 0, 0] = pseudo[0, 0] = 0
    table, quads = spare(counts.size), quads_of(k, coarse=True)
    confusion_tables.log_shares(2, 5, k, padded(counts), padded(pseudo), quads, table)
    confusion_tables.log_shares(
        0, 2, k, padded(counts), padded(pseudo), quads, table
    )  # writes nothing beyond its workers
    wanted = counts + pseudo
    wanted = np.where(wanted.sum(1, keepdims=True) > 0, wanted, 1)
    share = np.exp(table[:-PAD].reshape(5, k, k))
    np.testing.assert_allclose(share, wanted / wanted.sum(1, keepdims=True), rtol=1e-13, atol=1e-299)
    moved = table.copy()
    moved[:-PAD] += np.repeat(chance.normal(0, 9, (5, 1, k)), k, 1).ravel()
    confusion_tables.renormalise(2, 5, k, quads, moved)
    confusion_tables.renormalise(0, 2, k, quads, moved)
    np.testing.assert_allclose(moved, table, rtol=1e-12, atol=1e-12)


def test_many_votes_and_impossible_ones_stay_finite() -> None:
    n = 30_000
    key = np.zeros(n, np.uint32)
    key[::2] = 1
    table = padded(np.log([[1.0, 1e-300], [1e-300, 1.0]]))
    counts, n_true = spare(4), spare(2)
    value = confusion.sweep(0, 1, np.array([0, n]), key, None, np.log([0.5, 0.5]), table, quads_of(2), n_true, counts)
    assert np.isfinite(value) and n_true[:2].tolist() == [0.5, 0.5]
