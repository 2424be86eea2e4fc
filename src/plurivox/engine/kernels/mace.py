"""Kernel of competence: a worker knows the true label, or guesses."""

import math

import numpy as np

from plurivox.core.names import Floats, Ints
from plurivox.engine.jit import kernel
from plurivox.engine.kernels.maths import fast_exp


@kernel
def sweep(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    said: Ints,
    weight: Floats | None,
    log_prior: Floats,
    gain: Floats,
    posterior: Floats,
    n_true: Floats,
    right: Floats,
) -> float:
    """Fill posterior[task, true], add to right[key] and to n_true[true]; return the log likelihood, guesses left out.

    A vote speaks for its own label only, by gain[key] = log(1 + know / guess), where know and guess are the chances of
    saying the label because one knows it, or by guessing. right[key] is the weight of votes that hit the true label.
    Tasks without votes do not count in n_true.
    """
    n_labels = len(log_prior)
    row = np.empty(n_labels)
    value = 0.0
    for t in range(first, last):
        lo, hi = start[t], start[t + 1]
        for k in range(n_labels):
            row[k] = log_prior[k]
        for v in range(lo, hi):
            row[said[v]] += gain[key[v]] if weight is None else weight[v] * gain[key[v]]
        best = row[0]  # log-sum-exp: products of many votes underflow
        for k in range(1, n_labels):
            best = max(best, row[k])
        for k in range(n_labels):
            row[k] = fast_exp(row[k] - best)
        mass = 0.0
        for k in range(n_labels):
            mass += row[k]
        for k in range(n_labels):
            posterior[t, k] = row[k] / mass
        value += best + math.log(mass)
        if lo < hi:
            for k in range(n_labels):
                n_true[k] += posterior[t, k]
        for v in range(lo, hi):
            right[key[v]] += posterior[t, said[v]] if weight is None else weight[v] * posterior[t, said[v]]
    return value
