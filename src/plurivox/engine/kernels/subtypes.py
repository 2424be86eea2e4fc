"""Kernels of the model in which tasks of one true label fall into kinds, and a worker answers each kind in an own way.

The n_labels * n_subtypes kinds stand in the order of their labels: kind // n_subtypes is the true label.
"""

import math

import numpy as np

from plurivox.core.names import Bools, Floats, Ints
from plurivox.engine.jit import kernel
from plurivox.engine.kernels.maths import fast_exp


@kernel
def sweep(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    table: Floats,
    held: Bools | None,
    posterior: Floats,
    n_kind: Floats,
    counts: Floats,
) -> float:
    """E-step and M-step sums in one pass: add to n_kind[kind] and counts[key, kind]; return the log likelihood.

    p(kind | votes) is proportional to exp(log_prior[kind] + sum over votes of weight * table[key, kind]), and
    posterior[task, true] is its sum over the kinds of a label. Where a task is `held` it is what is known of the label,
    and only the kinds within each label are weighed. Tasks without votes do not count in n_kind.
    """
    n_kinds, n_labels = len(log_prior), posterior.shape[1]
    n_subtypes = n_kinds // n_labels
    row = np.empty(n_kinds)
    value = 0.0
    for t in range(first, last):
        lo, hi = start[t], start[t + 1]
        for k in range(n_kinds):
            row[k] = log_prior[k]
        for v in range(lo, hi):
            says = table[key[v]]
            w = 1.0 if weight is None else weight[v]
            for k in range(n_kinds):
                row[k] += w * says[k]
        known = held is not None and held[t]
        if known:
            for true in range(n_labels):
                part = row[true * n_subtypes : (true + 1) * n_subtypes]
                gain = _soften(part, posterior[t, true])
                if posterior[t, true] > 0.0:
                    value += posterior[t, true] * gain
        else:
            value += _soften(row, 1.0)
            for true in range(n_labels):
                mass = 0.0
                for k in range(true * n_subtypes, (true + 1) * n_subtypes):
                    mass += row[k]
                posterior[t, true] = mass
        if lo < hi:
            _add(n_kind, row, 1.0)
        for v in range(lo, hi):
            _add(counts[key[v]], row, 1.0 if weight is None else weight[v])
    return value


@kernel
def count(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    share: Floats,
    n_kind: Floats,
    counts: Floats,
) -> float:
    """The sums of given shares[task - first, kind]: add to n_kind[kind] and counts[key, kind]."""
    for t in range(first, last):
        if start[t] < start[t + 1]:
            _add(n_kind, share[t - first], 1.0)
        for v in range(start[t], start[t + 1]):
            _add(counts[key[v]], share[t - first], 1.0 if weight is None else weight[v])
    return 0.0


# ---- parts of the above


@kernel
def _soften(row: Floats, whole: float) -> float:
    """row becomes whole * exp(row) / sum(exp(row)); return the log of that sum."""
    best = row[0]  # log-sum-exp: products of many votes underflow
    for k in range(1, len(row)):
        best = max(best, row[k])
    for k in range(len(row)):
        row[k] = fast_exp(row[k] - best)
    mass = 0.0
    for k in range(len(row)):
        mass += row[k]
    for k in range(len(row)):
        row[k] *= whole / mass
    return best + math.log(mass)


@kernel
def _add(sums: Floats, row: Floats, by: float) -> None:
    for k in range(len(row)):
        sums[k] += by * row[k]
