"""Expected log-probabilities and KL divergences of many Dirichlet posteriors, on several threads."""

import numpy as np

from plurivox.core.types import Floats
from plurivox.engine.kernels.dirichlet import fill_expected_logs, fill_log_gamma_digamma
from plurivox.engine.threads import parallel_map

CELLS_PER_CHUNK = 2**15  # numbers that a thread computes per call


def expected_log_probabilities(counts: Floats, prior: Floats, n: int = 1) -> tuple[Floats, float]:
    """Return (E[log p], sum of -KL(posterior | prior)) of many Dirichlet posteriors with parameters prior + counts.

    counts is flat, [n, said, kind], and may end with spare cells; prior is (n_said, n_kinds). For every n and kind there
    is a distribution over said labels. E[log p] has the layout of the counts, with zeros in the spare cells.

    >>> log_mean, minus_kl = expected_log_probabilities(np.array([1.0, 0.0]), np.ones((2, 1)))
    >>> log_mean.round(9), round(minus_kl, 4)  # Beta(2, 1): -1/2, -3/2, and 1/2 - log 2
    (array([-0.5, -1.5]), -0.1931)
    """
    n_said, n_kinds = prior.shape
    plain, log_mean = prior.ravel(), np.zeros(len(counts))
    size = max(1, CELLS_PER_CHUNK // max(prior.size, 1))

    def fill_expected_logs_of_chunk(chunk: int) -> float:
        return fill_expected_logs(chunk * size, min((chunk + 1) * size, n), counts, plain, n_said, n_kinds, log_mean)

    return log_mean, sum(parallel_map(fill_expected_logs_of_chunk, -(-n // size))) + n * _prior_kl_term(prior)


def _prior_kl_term(prior: Floats) -> float:
    """Return the term of -KL(posterior | prior) of Dirichlet distributions that depends on the prior parameters alone."""
    given = np.concatenate([prior.ravel(), prior.sum(0)])
    log_gamma = np.empty(len(given))
    fill_log_gamma_digamma(given, log_gamma, np.empty(len(given)))
    return float(log_gamma[prior.size :].sum() - log_gamma[: prior.size].sum())
