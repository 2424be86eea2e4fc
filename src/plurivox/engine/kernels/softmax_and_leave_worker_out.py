"""Softmax of a task's row of log-scores, padded rows, and leave-one-worker-out agreement."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.fast_math import fast_exp
from plurivox.engine.kernels.simd_vector_type import (
    add_simd_rows,
    exp_of_simd_row,
    load_simd_row,
    store_simd_row,
    sum_of_simd_row,
)
from plurivox.engine.numba_compilation import compile_inlined_by_llvm, compile_inlined_by_numba

OVERFLOW_LIMIT = 1e200  # a larger product of masses is replaced by its log before it can overflow


@compile_inlined_by_numba
def softmax_in_place_return_logsumexp(row: Floats) -> float:
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


@compile_inlined_by_numba
def fill_exp_minus_maximum_return_sum(row: Floats, row_maximum: float, width: Any, out: Floats) -> float:
    """Fill out = exp(row - row_maximum) of a SIMD-padded row; return its sum: out / sum is the softmax."""
    mass, step = 0.0, np.uint64(4 * len(width))
    for k in range(np.uint64(0), np.uint64(len(row)), step):  # one iteration for up to 16 labels
        x = exp_of_simd_row(add_simd_rows(load_simd_row(row, k, width), -row_maximum))
        store_simd_row(out, k, x)
        mass += sum_of_simd_row(x)
    return mass


@compile_inlined_by_numba
def add_log_via_running_product(
    log_sum: float, running_product: float, addend: float, factor: float
) -> tuple[float, float]:
    """Add addend + log(factor) to a sum kept as log_sum + log(running_product); return the new (log_sum, running_product).

    One logarithm serves many tasks: factors are multiplied, and the log of the product is added before it can overflow.
    """
    log_sum += addend
    running_product *= factor
    if running_product > OVERFLOW_LIMIT:
        log_sum += math.log(running_product)
        running_product = 1.0
    return log_sum, running_product


@compile_inlined_by_numba
def constant_simd_row(n_labels: int, width: Any, fill: float) -> Floats:
    """Return an array filled with `fill`: n_labels numbers, the length rounded up to a multiple of the SIMD row length."""
    step = 4 * len(width)
    row = np.empty(-(-n_labels // step) * step)
    for k in range(len(row)):
        row[k] = fill
    return row


@compile_inlined_by_numba
def copy_row(row: Floats, target: Floats) -> None:
    """Copy `row` to the start of `target`. (A slice assignment would take numba seconds to compile.)"""
    for k in range(len(row)):
        target[k] = row[k]


@compile_inlined_by_numba
def end_of_rows_of_same_worker(v: int, hi: int, worker: Ints) -> int:
    """Return the end of the run of vote rows from v on (at most hi) that have the same worker as row v."""
    for end in range(v, hi):
        if worker[end] != worker[v]:
            return end
    return hi


@compile_inlined_by_llvm
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
    fill_log_scores_return_maximum: Callable[..., float],
    width: Any,
    buffer: Floats,
    agreeing_weight: Floats,
) -> None:
    """Add to agreeing_weight[worker] weight * p(true = said | the votes of the other workers) for each of a task's votes lo:hi.

    `row` has the task's log-scores with all votes, over `n_labels` columns; the model's function
    `fill_log_scores_return_maximum` subtracts those of one worker. `buffer` is overwritten. The columns of label l are
    label_start[l]:label_start[l + 1]; None: each column is a label.
    """
    v = lo
    while v < hi:
        end = end_of_rows_of_same_worker(v, hi, worker)
        best = fill_log_scores_return_maximum(
            v, end, said, key, weight, row, log_prob_table, n_labels, -1.0, width, buffer
        )
        mass = fill_exp_minus_maximum_return_sum(buffer, best, width, buffer)
        for u in range(v, end):
            if label_start is None:
                share = buffer[said[u]]
            else:
                share = 0.0
                for k in range(label_start[said[u]], label_start[said[u] + 1]):
                    share += buffer[k]
            agreeing_weight[worker[v]] += (1.0 if weight is None else weight[u]) * share / mass
        v = end
