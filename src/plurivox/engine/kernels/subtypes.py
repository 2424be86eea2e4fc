"""Kernels of the model in which tasks of one true label fall into kinds, and a worker answers each kind in an own way.

The n_labels * n_subtypes kinds stand in the order of their labels: kind // n_subtypes is the true label. Tables over
keys hold a number for every kind.
"""

import numpy as np

from plurivox.core.types import Bools, Floats, Ints
from plurivox.engine.jit import kernel
from plurivox.engine.kernels.softmax import copy, softmax


@kernel
def sweep(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    held: Bools,
    log_prior: Floats,
    table: Floats,
    posterior: Floats,
    n_kind: Floats,
    counts: Floats,
) -> float:
    """E-step and M-step sums in one pass: add to n_kind[kind] and counts[key, kind]; return the log likelihood.

    p(kind | votes) is proportional to exp(log_prior[kind] + sum over votes of weight * table[key, kind]). Where a task is
    `held`, posterior[task, true] is what is known of the label, and only the kinds within each label are weighed.
    """
    n_labels = posterior.shape[1]
    row = np.empty(len(log_prior))
    value = 0.0
    for t in range(first, last):
        copy(log_prior, row)
        for v in range(start[t], start[t + 1]):
            _add(row, table[key[v]], 1.0 if weight is None else weight[v])
        if held[t]:
            n_subtypes = len(row) // n_labels
            for true in range(n_labels):
                part, known = row[true * n_subtypes : (true + 1) * n_subtypes], posterior[t, true]
                gain = softmax(part)
                value += known * gain if known > 0.0 else 0.0
                for k in range(n_subtypes):
                    part[k] *= known
        else:
            value += softmax(row)
        _add(n_kind, row, 1.0)
        for v in range(start[t], start[t + 1]):
            _add(counts[key[v]], row, 1.0 if weight is None else weight[v])
    return value


@kernel
def count(
    first: int, last: int, start: Ints, key: Ints, weight: Floats | None, share: Floats, n_kind: Floats, counts: Floats
) -> float:
    """The M-step sums of given shares[task - first, kind]."""
    for t in range(first, last):
        _add(n_kind, share[t - first], 1.0)
        for v in range(start[t], start[t + 1]):
            _add(counts[key[v]], share[t - first], 1.0 if weight is None else weight[v])
    return 0.0


@kernel
def believe(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    held: Bools,
    log_prior: Floats,
    table: Floats,
    posterior: Floats,
    agree: Floats,
) -> float:
    """Fill posterior[task, true] unless it is held, and add to agree[worker] what the rest says of each of its votes.

    That is weight * p(true = said | the other votes on the task), or weight * what is known of the label said.
    """
    n_labels = posterior.shape[1]
    row, rest, label = np.empty(len(log_prior)), np.empty(len(log_prior)), np.empty(n_labels)
    for t in range(first, last):
        copy(log_prior, row)
        for v in range(start[t], start[t + 1]):
            _add(row, table[key[v]], 1.0 if weight is None else weight[v])
        known = held[t]
        if not known:
            copy(row, rest)
            _by_label(rest, posterior[t])
        copy(posterior[t], label)
        lo = start[t]
        while lo < start[t + 1]:
            worker, hi = key[lo] // np.uint32(n_labels), lo
            copy(row, rest)
            while hi < start[t + 1] and key[hi] // np.uint32(n_labels) == worker:  # the rows of one answer
                _add(rest, table[key[hi]], -1.0 if weight is None else -weight[hi])
                hi += 1
            if not known:
                _by_label(rest, label)
            for v in range(lo, hi):
                agree[worker] += label[key[v] % np.uint32(n_labels)] * (1.0 if weight is None else weight[v])
            lo = hi
    return 0.0


# ---- parts of the above


@kernel
def _add(sums: Floats, row: Floats, by: float) -> None:
    for k in range(len(row)):
        sums[k] += by * row[k]


@kernel
def _by_label(score: Floats, label: Floats) -> None:
    """label[true] = the mass of its kinds, for scores that become a posterior."""
    softmax(score)
    label[:] = 0.0
    for k in range(len(score)):
        label[k // (len(score) // len(label))] += score[k]
