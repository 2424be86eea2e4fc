"""Kernels of confusion-matrix models against plain numpy."""

import numpy as np
import pytest

from plurivox.engine.kernels import confusion_e_step, confusion_m_step
from plurivox.engine.kernels.simd_vector_type import PAD, flatten_align_and_pad, simd_width_as_zeros_tuple


class Case:
    """Random votes and parameters, with posterior and log-likelihood computed by plain numpy."""

    def __init__(self, n_labels: int, weighted: bool, n_tasks: int = 60, n_workers: int = 7) -> None:
        rng = np.random.default_rng(n_labels)
        size = rng.integers(0, 9, n_tasks)
        self.start = np.concatenate([[0], np.cumsum(size)])
        self.task, n = np.repeat(np.arange(n_tasks), size), int(size.sum())
        self.worker, self.said = (
            np.concatenate([np.sort(rng.integers(0, n_workers, s)) for s in size]),
            rng.integers(0, n_labels, n),
        )
        self.key = (self.worker * n_labels + self.said).astype(np.uint32)
        self.weight = rng.random(n) if weighted else None
        self.w = np.ones(n) if self.weight is None else self.weight
        self.log_prior = np.log(rng.dirichlet(np.ones(n_labels)))
        self.table = np.log(rng.dirichlet(np.ones(n_labels), (n_workers, n_labels)).transpose(0, 2, 1))
        self.log = np.repeat(self.log_prior[None], n_tasks, 0)
        np.add.at(self.log, self.task, self.w[:, None] * self.table.reshape(-1, n_labels)[self.key])
        self.value = np.logaddexp.reduce(self.log, axis=1)
        self.posterior = np.exp(self.log - self.value[:, None])
        self.votes = (0, n_tasks, self.start, self.key, self.weight)

    def counts(self, posterior: np.ndarray) -> np.ndarray:
        counts = np.zeros(self.table.size).reshape(-1, posterior.shape[1])
        np.add.at(counts, self.key, self.w[:, None] * posterior[self.task])
        return counts.ravel()

    def left_out(self) -> np.ndarray:
        """Return (n_workers,) the expected weight of correct votes, given the other votes on each task."""
        agree, rows = np.zeros(len(self.table)), self.table.reshape(-1, len(self.log_prior))
        for t, w in sorted(set(zip(self.task, self.worker, strict=True))):
            mine = np.flatnonzero((self.task == t) & (self.worker == w))
            rest = self.log[t] - (self.w[mine, None] * rows[self.key[mine]]).sum(0)
            rest = np.exp(rest - np.logaddexp.reduce(rest))
            agree[w] += (self.w[mine] * rest[self.said[mine]]).sum()
        return agree


CASES = [(k, weighted) for k in (1, 2, 3, 4, 5, 10, 16, 17, 33, 40) for weighted in (False, True)]
cases = pytest.mark.parametrize("case", [Case(*one) for one in CASES], ids=[f"K={k} {w}" for k, w in CASES])


def spare(n: int) -> np.ndarray:
    return np.zeros(n + PAD)


@cases
def test_em_pass_matches_numpy(case: Case) -> None:
    k = len(case.log_prior)
    n_true, counts = spare(k), spare(case.table.size)
    value = confusion_e_step.e_step_adding_expected_counts(
        *case.votes, case.log_prior, flatten_align_and_pad(case.table), simd_width_as_zeros_tuple(k), n_true, counts
    )
    np.testing.assert_allclose(value, case.value.sum(), rtol=1e-13)
    np.testing.assert_allclose(n_true[:k], case.posterior.sum(0), rtol=1e-12)
    np.testing.assert_allclose(counts[:-PAD], case.counts(case.posterior), rtol=1e-11)
    assert not counts[-PAD:].any()


@cases
def test_hard_em_pass_matches_numpy(case: Case) -> None:
    k = len(case.log_prior)
    n_true, counts = spare(k), spare(case.table.size)
    width = simd_width_as_zeros_tuple(k, coarse=True)
    value = confusion_e_step.hard_e_step_adding_counts(
        *case.votes, case.log_prior, flatten_align_and_pad(case.table), width, n_true, counts
    )
    np.testing.assert_allclose(value, case.log.max(1).sum(), rtol=1e-13)
    labels = np.eye(k)[case.log.argmax(1)]
    np.testing.assert_array_equal(n_true[:k], labels.sum(0))
    np.testing.assert_allclose(counts[:-PAD], case.counts(labels), rtol=1e-12)


@cases
def test_posterior_and_counts_match_numpy(case: Case) -> None:
    k, n_tasks = len(case.log_prior), case.votes[1]
    prob, agree, width = np.empty((n_tasks, k)), np.zeros(7), simd_width_as_zeros_tuple(k, coarse=True)
    given = (*case.votes, case.worker, case.said, case.log_prior[None], flatten_align_and_pad(case.table), width, prob)
    value = confusion_e_step.fill_posterior_and_add_agreement(*given, agree)
    np.testing.assert_allclose(prob, case.posterior, rtol=1e-11)
    np.testing.assert_allclose(value, case.value.sum(), rtol=1e-13)
    np.testing.assert_allclose(agree, case.left_out(), rtol=1e-10)
    alone = prob.copy()
    prob[:] = 0
    assert confusion_e_step.fill_posterior_and_add_agreement(*given, None) == value
    np.testing.assert_array_equal(prob, alone)
    n_true, counts = spare(k), spare(case.table.size)
    confusion_e_step.add_expected_counts_under_posterior(*case.votes, prob, width, n_true, counts)
    np.testing.assert_allclose(n_true[:k], case.posterior.sum(0), rtol=1e-12)
    np.testing.assert_allclose(counts[:-PAD], case.counts(case.posterior), rtol=1e-11)


@cases
def test_posterior_with_one_prior_per_task(case: Case) -> None:
    k, n_tasks = len(case.log_prior), case.votes[1]
    own = np.random.default_rng(9).normal(size=(n_tasks, k))
    prob, width = np.empty((n_tasks, k)), simd_width_as_zeros_tuple(k, coarse=True)
    value = confusion_e_step.fill_posterior_and_add_agreement(
        *case.votes, case.worker, case.said, own, flatten_align_and_pad(case.table), width, prob, None
    )
    score = case.log - case.log_prior + own
    total = np.logaddexp.reduce(score, axis=1)
    np.testing.assert_allclose(prob, np.exp(score - total[:, None]), rtol=1e-11)
    np.testing.assert_allclose(value, total.sum(), rtol=1e-12)


@cases
def test_vote_shares(case: Case) -> None:
    k, n_tasks = len(case.log_prior), case.votes[1]
    share = np.empty((n_tasks, k))
    confusion_e_step.fill_vote_shares_or_uniform(0, n_tasks, case.start, case.said, case.weight, share)
    counts = np.zeros((n_tasks, k))
    np.add.at(counts, (case.task, case.said), case.w)
    total = counts.sum(1, keepdims=True)
    wanted = np.where(total > 0, counts / np.where(total > 0, total, 1), 1 / k)
    np.testing.assert_allclose(share, wanted, rtol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 6, 10, 17, 33])
def test_m_step_and_renormalise_match_numpy(k: int) -> None:
    rng = np.random.default_rng(0)
    counts, pseudo = rng.random((5, k, k)), rng.random((k, k))
    counts[2, :, k - 1], pseudo[:, k - 1] = 0, 0  # worker 2 has no votes on tasks whose true label is the last
    counts[1, 0, 0] = pseudo[0, 0] = 0
    table, width = spare(counts.size), simd_width_as_zeros_tuple(k, coarse=True)
    confusion_m_step.fill_log_confusion_from_counts(
        2, 5, k, flatten_align_and_pad(counts), flatten_align_and_pad(pseudo), width, table
    )
    # this call must not change the rows of workers 2 to 4
    confusion_m_step.fill_log_confusion_from_counts(
        0, 2, k, flatten_align_and_pad(counts), flatten_align_and_pad(pseudo), width, table
    )
    wanted = counts + pseudo
    wanted = np.where(wanted.sum(1, keepdims=True) > 0, wanted, 1)
    share = np.exp(table[:-PAD].reshape(5, k, k))
    np.testing.assert_allclose(share, wanted / wanted.sum(1, keepdims=True), rtol=1e-13, atol=1e-299)
    moved = table.copy()
    moved[:-PAD] += np.repeat(rng.normal(0, 9, (5, 1, k)), k, 1).ravel()
    confusion_m_step.renormalise_log_confusion(2, 5, k, width, moved)
    confusion_m_step.renormalise_log_confusion(0, 2, k, width, moved)
    np.testing.assert_allclose(moved, table, rtol=1e-12, atol=1e-12)


def test_likelihood_stays_finite_for_many_and_impossible_votes() -> None:
    n = 30_000
    key = np.zeros(n, np.uint32)
    key[::2] = 1
    table = flatten_align_and_pad(np.log([[1.0, 1e-300], [1e-300, 1.0]]))
    counts, n_true = spare(4), spare(2)
    value = confusion_e_step.e_step_adding_expected_counts(
        0, 1, np.array([0, n]), key, None, np.log([0.5, 0.5]), table, simd_width_as_zeros_tuple(2), n_true, counts
    )
    assert np.isfinite(value) and n_true[:2].tolist() == [0.5, 0.5]
