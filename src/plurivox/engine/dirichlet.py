"""Many Dirichlet distributions at once: the mean logs of their probabilities, and how far they lie from their prior."""

import math

import numpy as np

from plurivox.core.names import Floats
from plurivox.engine.blocks import run
from plurivox.engine.jit import kernel

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)
SHIFT = 7  # the series of `gammas` are good to 1e-13 from here on
PIECE = 2**14  # numbers a thread takes at a time


def expected_logs(counts: Floats, prior: Floats) -> tuple[Floats, float]:
    """(E[log p], the sum of -KL(posterior | prior)) for Dirichlet posteriors prior + counts.

    counts (n, n_said, n_kinds), prior (n_said, n_kinds): for every n and kind there is a distribution over what is
    said. The first answer has the shape of counts.

    >>> log_mean, minus_kl = expected_logs(np.array([[[1.0], [0.0]]]), np.ones((2, 1)))
    >>> log_mean.ravel(), round(minus_kl, 4)  # Beta(2, 1): E[log p] = -1/2; E[log(1 - p)] = -3/2; KL = log 2 - 1/2
    (array([-0.5, -1.5]), -0.1931)
    """
    n, n_said, n_kinds = counts.shape
    log_mean = np.empty(counts.shape)
    size = max(1, PIECE // max(n_said * n_kinds, 1))

    def piece(i: int) -> float:
        return expect(i * size, min((i + 1) * size, n), counts, prior, log_mean)

    return log_mean, sum(run(piece, -(-n // size))) + n * prior_constant(prior)


@kernel
def gammas(x):  # type: ignore[no-untyped-def]
    """(log gamma, digamma) of x > 0: Stirling's series at x + 7, brought back by the recurrence."""
    product, change = x, 1.0  # x (x + 1) ... (x + 6) and its derivative
    for i in range(1, SHIFT):
        change = change * (x + i) + product
        product *= x + i
    y = x + SHIFT
    z = 1.0 / y
    q = z * z
    log_y = math.log(y)
    tail = z * (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - q * 691 / 360360)))))
    slope = q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * (1 / 240 - q * (1 / 132 - q * 691 / 32760)))))
    log_gamma = (y - 0.5) * log_y - y + HALF_LOG_TAU + tail - math.log(product)
    return log_gamma, log_y - 0.5 * z - slope - change / product


@kernel
def expect(first, last, counts, prior, log_mean):  # type: ignore[no-untyped-def]
    """Fill log_mean[first:last]; returns their part of -KL that depends on the counts."""
    n_said, n_kinds = prior.shape
    total = 0.0
    for i in range(first, last):
        for k in range(n_kinds):
            whole = 0.0
            for s in range(n_said):
                whole += counts[i, s, k] + prior[s, k]
            log_gamma, mean = gammas(whole)
            total -= log_gamma
            for s in range(n_said):
                log_gamma, digamma = gammas(prior[s, k] + counts[i, s, k])
                log_mean[i, s, k] = digamma - mean
                total += log_gamma - counts[i, s, k] * (digamma - mean)
    return total


@kernel
def prior_constant(prior):  # type: ignore[no-untyped-def]
    """The part of -KL that depends on the prior alone."""
    n_said, n_kinds = prior.shape
    total = 0.0
    for k in range(n_kinds):
        whole = 0.0
        for s in range(n_said):
            whole += prior[s, k]
            total -= gammas(prior[s, k])[0]
        total += gammas(whole)[0]
    return total
