"""Expected logs and KL divergences of Dirichlet posteriors against scipy."""

import numpy as np
from scipy.special import digamma, gammaln

from plurivox.engine.dirichlet_expected_logs import dirichlet_expected_logs_and_minus_kl
from plurivox.engine.kernels.dirichlet_expected_logs import fill_expected_logs_return_minus_kl, fill_log_gamma_digamma
from plurivox.engine.parallel_task_blocks import set_threads


def test_log_gamma_and_digamma_match_scipy() -> None:
    x = 10 ** np.linspace(-6, 9, 2000)
    log_gamma, slope = np.empty(len(x)), np.empty(len(x))
    fill_log_gamma_digamma(x, log_gamma, slope)
    np.testing.assert_allclose(log_gamma, gammaln(x), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(slope, digamma(x), rtol=1e-12, atol=1e-13)


def plain(counts: np.ndarray, prior: np.ndarray) -> tuple[np.ndarray, float]:
    a = counts + prior
    whole, before = a.sum(1, keepdims=True), prior.sum(0)
    logs = digamma(a) - digamma(whole)
    kl = gammaln(whole).sum() - gammaln(a).sum() + (counts * logs).sum()
    return logs, -(kl - len(counts) * (gammaln(before).sum() - gammaln(prior).sum()))


def test_expected_logs_and_kl_match_scipy() -> None:
    rng = np.random.default_rng(0)
    for n, n_said, n_kinds in ((7, 3, 3), (5000, 4, 12), (1, 1, 1), (2, 5, 1)):
        counts, prior = rng.gamma(0.5, 3, (n, n_said, n_kinds)), rng.gamma(1, 1, (n_said, n_kinds)) + 0.01
        logs, minus_kl = plain(counts, prior)
        spare = np.concatenate([counts.ravel(), np.zeros(16)])
        found, value = dirichlet_expected_logs_and_minus_kl(spare, prior, n)
        np.testing.assert_allclose(found[: counts.size].reshape(counts.shape), logs, atol=1e-11)
        assert not found[counts.size :].any() and np.isclose(value, minus_kl, rtol=1e-10, atol=1e-10)


def test_compiled_kernel_matches_python_and_threads_do_not_matter() -> None:
    counts, prior = np.random.default_rng(1).gamma(1, 1, 30000 * 4), np.array([[2.0, 1.0], [1.0, 2.0]])
    compiled, written = np.empty(40), np.empty(40)
    first = fill_expected_logs_return_minus_kl(0, 10, counts[:40], prior.ravel(), 2, 2, compiled)
    assert np.isclose(
        first, fill_expected_logs_return_minus_kl.py_func(0, 10, counts[:40], prior.ravel(), 2, 2, written)
    )
    np.testing.assert_allclose(compiled, written, rtol=1e-12)
    answers = []
    for n in (1, 3):
        set_threads(n)
        answers.append(dirichlet_expected_logs_and_minus_kl(counts, prior, 30000))
    set_threads(None)
    assert answers[0][1] == answers[1][1] and (answers[0][0] == answers[1][0]).all()
