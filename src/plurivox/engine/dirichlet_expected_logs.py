"""Expected log-probabilities and KL divergences of many Dirichlet posteriors, on several threads."""

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.engine.kernels.dirichlet_expected_logs import fill_expected_logs_return_minus_kl, fill_log_gamma_digamma
from plurivox.engine.parallel_task_blocks import parallel_map
from plurivox.engine.second_compiler import KernelCall

CELLS_PER_CHUNK = 2**15  # numbers that a thread computes per call


def dirichlet_kernel_calls() -> list[KernelCall]:
    """Return the kernel of `dirichlet_expected_logs_and_minus_kl` with example arguments."""
    vector = np.empty(0)
    return [(fill_expected_logs_return_minus_kl, (0, 0, vector, vector, 1, 1, vector))]


def dirichlet_expected_logs_and_minus_kl(counts: Floats, prior: Floats, n_groups: int = 1) -> tuple[Floats, float]:
    """Return (E[log p], sum of -KL(posterior | prior)) of many Dirichlet posteriors with parameters prior + counts.

    counts is flat, [group, said, kind], and may end with spare cells; prior is (n_said, n_kinds). For every group and kind
    there is a distribution over said labels. E[log p] has the layout of the counts, with zeros in the spare cells.

    >>> log_mean, minus_kl = dirichlet_expected_logs_and_minus_kl(np.array([1.0, 0.0]), np.ones((2, 1)))
    >>> log_mean.round(9), round(minus_kl, 4)  # Beta(2, 1): -1/2, -3/2, and 1/2 - log 2
    (array([-0.5, -1.5]), -0.1931)
    """
    n_said, n_kinds = prior.shape
    plain, log_mean = prior.ravel(), np.zeros(len(counts))
    size = max(1, CELLS_PER_CHUNK // max(prior.size, 1))

    def fill_chunk_return_minus_kl(chunk: int) -> float:
        return fill_expected_logs_return_minus_kl(
            chunk * size, min((chunk + 1) * size, n_groups), counts, plain, n_said, n_kinds, log_mean
        )

    minus_kl = sum(parallel_map(fill_chunk_return_minus_kl, -(-n_groups // size)))
    return log_mean, minus_kl + n_groups * _minus_kl_term_of_prior_alone(prior)


def _minus_kl_term_of_prior_alone(prior: Floats) -> float:
    """Return the term of -KL(posterior | prior) of Dirichlet distributions that depends on the prior parameters alone."""
    given = np.concatenate([prior.ravel(), prior.sum(0)])
    log_gamma = np.empty(len(given))
    fill_log_gamma_digamma(given, log_gamma, np.empty(len(given)))
    return float(log_gamma[prior.size :].sum() - log_gamma[: prior.size].sum())
