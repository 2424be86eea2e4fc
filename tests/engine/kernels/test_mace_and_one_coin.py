"""Kernels of MACE and one-coin Dawid-Skene against plain numpy."""

import numpy as np
import pytest

from plurivox.engine.kernels import mace_and_one_coin
from plurivox.engine.kernels.simd_vector_type import PAD, simd_width_as_zeros_tuple


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_label", [False, True], ids=["one-coin", "mace"])
@pytest.mark.parametrize("k", [1, 2, 4, 5, 17, 33])
def test_em_pass_and_posterior_match_numpy(k: int, by_label: bool, weighted: bool) -> None:
    rng, n_tasks, n_workers = np.random.default_rng(k), 50, 6
    size = rng.integers(0, 8, n_tasks)
    start, task = np.concatenate([[0], np.cumsum(size)]), np.repeat(np.arange(n_tasks), size)
    worker = np.concatenate([np.sort(rng.integers(0, n_workers, s)) for s in size])
    said = rng.integers(0, k, len(task)).astype(np.uint8)
    key = worker * k + said if by_label else worker
    gain, log_prior = rng.normal(1, 1, n_workers * (k if by_label else 1)), np.log(rng.dirichlet(np.ones(k)))
    weight = rng.random(len(task)) if weighted else None
    w = np.ones(len(task)) if weight is None else weight

    score = np.repeat(log_prior[None], n_tasks, 0)
    np.add.at(score, (task, said), w * gain[key])
    total = np.logaddexp.reduce(score, axis=1)
    posterior = np.exp(score - total[:, None])
    left_out = np.zeros(n_workers)
    for t, one in sorted(set(zip(task, worker, strict=True))):
        mine, rest = np.flatnonzero((task == t) & (worker == one)), score[t].copy()
        np.add.at(rest, said[mine], -(w * gain[key])[mine])
        rest = np.exp(rest - np.logaddexp.reduce(rest))
        left_out[one] += (w[mine] * rest[said[mine]]).sum()

    n_true, right, width = np.zeros(k + PAD), np.zeros(len(gain)), simd_width_as_zeros_tuple(k)
    votes = 0, n_tasks, start, said, key, weight
    value = mace_and_one_coin.e_step_adding_expected_counts(*votes, log_prior, gain, width, n_true, right)
    np.testing.assert_allclose(value, total.sum(), rtol=1e-12)
    np.testing.assert_allclose(n_true[:k], posterior.sum(0), rtol=1e-12)
    np.testing.assert_allclose(right, np.bincount(key, w * posterior[task, said], len(gain)), rtol=1e-11)
    prob, agree = np.empty((n_tasks, k)), np.zeros(n_workers)
    mace_and_one_coin.fill_posterior_and_add_agreement(*votes, worker, log_prior, gain, width, prob, agree)
    np.testing.assert_allclose(prob, posterior, rtol=1e-11)
    np.testing.assert_allclose(agree, left_out, rtol=1e-10)
