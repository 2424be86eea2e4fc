"""Kernels of Dirichlet posteriors: expected log-probabilities and KL divergence from the prior."""

import math

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.engine.kernels.fast_math import fast_log
from plurivox.engine.numba_compilation import compile_kernel

HALF_LOG_TAU = 0.5 * math.log(2 * math.pi)


@compile_kernel
def fill_log_gamma_digamma(values: Floats, log_gamma: Floats, digamma: Floats) -> None:
    """Fill `log_gamma` with log Gamma(x) and `digamma` with its derivative for each x > 0 of `values`, within 1e-13.

    Stirling's series at x + 7, and the recurrence back to x. In one loop, so that it is vectorised.
    """
    for i in range(len(values)):
        x = values[i]
        product, slope = x, 1.0  # x (x + 1) ... (x + 6), and its derivative
        for j in range(1, 7):
            slope = slope * (x + j) + product
            product *= x + j
        y = x + 7.0
        z = 1.0 / y
        q = z * z
        log_y = fast_log(y)
        tail = z * (1 / 12 - q * (1 / 360 - q * (1 / 1260 - q * (1 / 1680 - q * (1 / 1188 - q * 691 / 360360)))))
        bend = q * (1 / 12 - q * (1 / 120 - q * (1 / 252 - q * (1 / 240 - q * (1 / 132 - q * 691 / 32760)))))
        log_gamma[i] = (y - 0.5) * log_y - y + HALF_LOG_TAU + tail - fast_log(product)
        digamma[i] = log_y - 0.5 * z - bend - slope / product


@compile_kernel
def fill_expected_logs_return_minus_kl(
    first: int, last: int, counts: Floats, prior: Floats, n_said: int, n_kinds: int, log_mean: Floats
) -> float:
    """Fill log_mean[i, said, kind] with E[log p] of Dirichlet posteriors, i in first:last; return their -KL without
    prior terms.

    The parameters are prior[said, kind] + counts[i, said, kind]; all three arrays are flat.
    """
    size = n_said * n_kinds
    given, log_gamma, digamma = np.empty(size + n_kinds), np.empty(size + n_kinds), np.empty(size + n_kinds)
    value = 0.0
    for i in range(first, last):
        here, out = counts[i * size : (i + 1) * size], log_mean[i * size : (i + 1) * size]
        given[size:] = 0.0  # the sums of the parameters follow them
        for said in range(n_said):
            for kind in range(n_kinds):
                at = said * n_kinds + kind
                given[at] = prior[at] + here[at]
                given[size + kind] += given[at]
        fill_log_gamma_digamma(given, log_gamma, digamma)
        for kind in range(n_kinds):
            value -= log_gamma[size + kind]
        for said in range(n_said):
            for kind in range(n_kinds):
                at = said * n_kinds + kind
                out[at] = digamma[at] - digamma[size + kind]
                value += log_gamma[at] - here[at] * out[at]
    return value
