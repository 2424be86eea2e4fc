"""Softmax of a task's row of log-scores, padded rows, and leave-one-worker-out agreement."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.engine.jit import inline, routine
from plurivox.engine.kernels.fast_math import fast_exp
from plurivox.engine.kernels.simd import add, exp, load, row_sum, store

OVERFLOW_LIMIT = 1e200  # a larger product of masses is replaced by its log before it can overflow


@inline
def softmax(row: Floats) -> float:
    """Replace a row of log-scores by its softmax, in place; return the log of the sum of exp(row). For rows without
    SIMD padding.
    """
    best, mass = row[0], 0.0
    for k in range(1, len(row)):
        best = max(best, row[k])
    for k in range(len(row)):
        row[k] = fast_exp(row[k] - best)
    for k in range(len(row)):
        mass += row[k]
    share = 1.0 / mass
    for k in range(len(row)):
        row[k] *= share
    return best + math.log(mass)


@inline
def exp_row(row: Floats, row_maximum: float, width: Any, out: Floats) -> float:
    """Fill out = exp(row - row_maximum) of a SIMD-padded row; return its sum: out / sum is the softmax."""
    mass, step = 0.0, np.uint64(4 * len(width))
    for k in range(np.uint64(0), np.uint64(len(row)), step):  # one iteration for up to 16 labels
        x = exp(add(load(row, k, width), -row_maximum))
        store(out, k, x)
        mass += row_sum(x)
    return mass


@inline
def add_log_mass(value: float, product: float, best: float, mass: float) -> tuple[float, float]:
    """Add best + log(mass) to a running sum kept as value + log(product); return the new (value, product).

    One logarithm serves many tasks: masses are multiplied, and the log of the product is added before it can overflow.
    """
    value += best
    product *= mass
    if product > OVERFLOW_LIMIT:
        value += math.log(product)
        product = 1.0
    return value, product


@inline
def padded_row(n_labels: int, width: Any, fill: float) -> Floats:
    """Return an array filled with `fill`: n_labels numbers, the length rounded up to a multiple of the SIMD row length."""
    step = 4 * len(width)
    row = np.empty(-(-n_labels // step) * step)
    for k in range(len(row)):
        row[k] = fill
    return row


@inline
def copy_row(row: Floats, target: Floats) -> None:
    """Copy `row` to the start of `target`. (A slice assignment would take numba seconds to compile.)"""
    for k in range(len(row)):
        target[k] = row[k]


@inline
def answer_end(v: int, hi: int, worker: Ints) -> int:
    """Return the end of the run of vote rows from v on (at most hi) that have the same worker as row v."""
    for end in range(v, hi):
        if worker[end] != worker[v]:
            return end
    return hi


@routine
def add_leave_one_out_agreement(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    key: Ints,
    weight: Floats | None,
    row: Floats,
    log_prob_table: Floats,
    n_labels: int,
    label_start: Ints | None,
    add_votes: Callable[..., float],
    width: Any,
    buffer: Floats,
    agree: Floats,
) -> None:
    """Add to agree[worker] weight * p(true = said | the votes of the other workers) for each of a task's votes lo:hi.

    `row` has the task's log-scores with all votes, over `n_labels` columns; the model's `add_votes` subtracts those of one
    worker. `buffer` is overwritten. The columns of label l are label_start[l]:label_start[l + 1]; None: each column is a label.
    """
    v = lo
    while v < hi:
        end = answer_end(v, hi, worker)
        best = add_votes(v, end, said, key, weight, row, log_prob_table, n_labels, -1.0, width, buffer)
        mass = exp_row(buffer, best, width, buffer)
        for u in range(v, end):
            if label_start is None:
                share = buffer[said[u]]
            else:
                share = 0.0
                for k in range(label_start[said[u]], label_start[said[u] + 1]):
                    share += buffer[k]
            agree[worker[v]] += (1.0 if weight is None else weight[u]) * share / mass
        v = end
