"""Kernels of MACE and one-coin Dawid-Skene, in which a vote changes the score of its own label only.

A vote adds gain[key] to the log-score of its label; a constant added to all labels does not change the posterior and is
left out. In MACE a key is a worker and a label, and gain = log(1 + know / guess), with the probabilities of giving that
label by knowing it and by guessing; in one-coin a key is a worker, and gain = log(right / wrong).
"""

import math
from typing import Any

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.engine.jit import kernel, routine
from plurivox.engine.kernels.simd import add, load, row_max, scale, store
from plurivox.engine.kernels.softmax import add_leave_one_out_agreement, add_log_mass, copy_row, exp_row, padded_row


@kernel
def em_pass(
    first: int,
    last: int,
    start: Ints,
    said: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    gain: Floats,
    width: Any,
    n_true: Floats,
    n_correct: Floats,
) -> float:
    """Run the E-step of tasks first:last; add expected task counts to n_true[true] and correct vote weight to n_correct[key].

    Return the log-likelihood.
    """
    prior = padded_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row, step = np.empty(len(prior)), np.uint64(4 * len(width))
    value, product = 0.0, 1.0
    for t in range(first, last):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + 1])
        best = _add_votes(lo, hi, said, key, weight, prior, gain, 0, 1.0, width, row)
        mass = exp_row(row, best, width, row)
        for k in range(np.uint64(0), np.uint64(len(row)), step):
            x = scale(load(row, k, width), 1.0 / mass)
            store(row, k, x)
            store(n_true, k, add(load(n_true, k, width), x))
        for v in range(lo, hi):
            n_correct[key[v]] += row[said[v]] if weight is None else weight[v] * row[said[v]]
        value, product = add_log_mass(value, product, best, mass)
    return value + math.log(product)


@kernel
def posterior(
    first: int,
    last: int,
    start: Ints,
    said: Ints,
    key: Ints,
    weight: Floats | None,
    worker: Ints,
    log_prior: Floats,
    gain: Floats,
    width: Any,
    prob: Floats,
    agree: Floats,
) -> float:
    """Fill prob[task, true]; add to agree[worker] weight * p(true = said | the votes of the other workers on the task)."""
    prior = padded_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row, rest = np.empty(len(prior)), np.empty(len(prior))
    for t in range(first, last):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + 1])
        best = _add_votes(lo, hi, said, key, weight, prior, gain, 0, 1.0, width, row)
        mass = exp_row(row, best, width, rest)
        for k in range(len(log_prior)):
            prob[t, k] = rest[k] / mass
        add_leave_one_out_agreement(
            lo, hi, worker, said, key, weight, row, gain, 0, None, _add_votes, width, rest, agree
        )
    return 0.0


@routine
def _add_votes(
    lo: int,
    hi: int,
    said: Ints,
    key: Ints,
    weight: Floats | None,
    base_row: Floats,
    gain: Floats,
    n_labels: int,
    sign: float,
    width: Any,
    row: Floats,
) -> float:
    """Fill row = base_row + sign * the gain of each of the votes lo:hi at its label; return the row's maximum.

    `n_labels` is not used, since `gain` has no labels; see `confusion_e_step.add_votes`.
    """
    best, step = -math.inf, np.uint64(4 * len(width))
    for k in range(np.uint64(0), np.uint64(len(row)), step):
        store(row, k, load(base_row, k, width))
    for v in range(lo, hi):
        row[said[v]] += sign * gain[key[v]] if weight is None else sign * weight[v] * gain[key[v]]
    for k in range(np.uint64(0), np.uint64(len(row)), step):  # one iteration for up to 16 labels
        best = max(best, row_max(load(row, k, width)))
    return best
