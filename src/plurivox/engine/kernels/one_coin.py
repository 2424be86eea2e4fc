"""Kernels of models in which a vote speaks for the label it names alone, by a number of its worker."""

import numpy as np

from plurivox.core.names import Floats, Ints
from plurivox.engine.jit import kernel, part
from plurivox.engine.kernels.softmax import copy, soften


@kernel
def sweep(
    first: int,
    last: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    log_prior: Floats,
    hit: Floats,
    miss: Floats,
    n_true: Floats,
    right: Floats,
) -> float:
    """E-step and M-step sums in one pass: add to n_true[true] and right[worker]; return the log likelihood.

    A vote multiplies the chance of the label it names by exp(hit[worker]), that of each other one by exp(miss[worker]).
    """
    n_labels = len(log_prior)
    row = np.empty(n_labels)
    value = 0.0
    for t in range(first, last):
        copy(log_prior, row)
        value += _weigh(start[t], start[t + 1], worker, said, weight, hit, miss, row)
        value += soften(row)
        for k in range(n_labels):
            n_true[k] += row[k]
        for v in range(start[t], start[t + 1]):
            right[worker[v]] += (1.0 if weight is None else weight[v]) * row[said[v]]
    return value


@kernel
def believe(
    first: int,
    last: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    log_prior: Floats,
    hit: Floats,
    miss: Floats,
    posterior: Floats,
    agree: Floats,
) -> float:
    """Fill posterior[task, true], and add to agree[worker] what the other votes say in favour of each of its own."""
    n_labels = len(log_prior)
    row, rest = np.empty(n_labels), np.empty(n_labels)
    for t in range(first, last):
        copy(log_prior, row)
        _weigh(start[t], start[t + 1], worker, said, weight, hit, miss, row)
        copy(row, rest)
        soften(rest)
        copy(rest, posterior[t * n_labels : (t + 1) * n_labels])
        v = start[t]
        while v < start[t + 1]:
            end = v
            while end < start[t + 1] and worker[end] == worker[v]:  # the rows of one answer, and its repeats
                end += 1
            copy(row, rest)
            for u in range(v, end):
                w = 1.0 if weight is None else weight[u]
                rest[said[u]] -= w * (hit[worker[u]] - miss[worker[u]])
            soften(rest)
            for u in range(v, end):
                agree[worker[u]] += (1.0 if weight is None else weight[u]) * rest[said[u]]
            v = end
    return 0.0


@part
def _weigh(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    hit: Floats,
    miss: Floats,
    row: Floats,
) -> float:
    """Add to the row what votes say for the label they name beyond what they say for all; return the latter's sum."""
    every = 0.0
    for v in range(lo, hi):
        w = 1.0 if weight is None else weight[v]
        every += w * miss[worker[v]]
        row[said[v]] += w * (hit[worker[v]] - miss[worker[v]])
    return every
