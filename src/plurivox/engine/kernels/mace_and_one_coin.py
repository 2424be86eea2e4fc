"""Kernels of MACE and one-coin Dawid-Skene, in which a vote changes the score of its own label only.

A vote adds gain[key] to the log-score of its label; a constant added to all labels does not change the posterior and is
left out. In MACE a key is a worker and a label, and gain = log(1 + know / guess), with the probabilities of giving that
label by knowing it and by guessing; in one-coin a key is a worker, and gain = log(right / wrong).
"""

import math
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.simd_vector_type import (
    add_simd_rows,
    largest_in_simd_row,
    load_simd_row,
    multiply_simd_rows,
    store_simd_row,
)
from plurivox.engine.kernels.softmax_and_leave_worker_out import (
    add_leave_one_out_agreement,
    add_log_via_running_product,
    constant_simd_row,
    copy_row,
    fill_exp_minus_maximum_return_sum,
)
from plurivox.engine.numba_compilation import compile_inlined_by_llvm, compile_kernel


@compile_kernel
def e_step_adding_expected_counts(
    first_task: int,
    end_task: int,
    start: Ints,
    said: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    gain: Floats,
    width: Any,
    tasks_per_label: Floats,
    right_votes: Floats,
) -> float:
    """Run the E-step of some tasks; add expected counts to tasks_per_label[true] and right vote weight to right_votes[key].

    Return the log-likelihood.
    """
    prior = constant_simd_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row, step = np.empty(len(prior)), np.uint64(4 * len(width))
    value, product = 0.0, 1.0
    for t in range(first_task, end_task):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + 1])
        best = _fill_log_scores_return_maximum(lo, hi, said, key, weight, prior, gain, 0, 1.0, width, row)
        mass = fill_exp_minus_maximum_return_sum(row, best, width, row)
        for k in range(np.uint64(0), np.uint64(len(row)), step):
            x = multiply_simd_rows(load_simd_row(row, k, width), 1.0 / mass)
            store_simd_row(row, k, x)
            store_simd_row(tasks_per_label, k, add_simd_rows(load_simd_row(tasks_per_label, k, width), x))
        for v in range(lo, hi):
            right_votes[key[v]] += row[said[v]] if weight is None else weight[v] * row[said[v]]
        value, product = add_log_via_running_product(value, product, best, mass)
    return value + math.log(product)


@compile_kernel
def fill_posterior_and_add_agreement(
    first_task: int,
    end_task: int,
    start: Ints,
    said: Ints,
    key: Ints,
    weight: Floats | None,
    worker: Ints,
    log_prior: Floats,
    gain: Floats,
    width: Any,
    prob: Floats,
    agreeing_weight: Floats,
) -> float:
    """Fill prob[task, true]; add to agreeing_weight[worker] weight * p(true = said | the other workers' votes on the task)."""
    prior = constant_simd_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row, rest = np.empty(len(prior)), np.empty(len(prior))
    for t in range(first_task, end_task):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + 1])
        best = _fill_log_scores_return_maximum(lo, hi, said, key, weight, prior, gain, 0, 1.0, width, row)
        mass = fill_exp_minus_maximum_return_sum(row, best, width, rest)
        for k in range(len(log_prior)):
            prob[t, k] = rest[k] / mass
        add_leave_one_out_agreement(
            lo,
            hi,
            worker,
            said,
            key,
            weight,
            row,
            gain,
            0,
            None,
            _fill_log_scores_return_maximum,
            width,
            rest,
            agreeing_weight,
        )
    return 0.0


@compile_inlined_by_llvm
def _fill_log_scores_return_maximum(
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

    `n_labels` is not used, since `gain` has no labels; see `confusion_e_step.fill_log_scores_return_maximum`.
    """
    best, step = -math.inf, np.uint64(4 * len(width))
    for k in range(np.uint64(0), np.uint64(len(row)), step):
        store_simd_row(row, k, load_simd_row(base_row, k, width))
    for v in range(lo, hi):
        row[said[v]] += sign * gain[key[v]] if weight is None else sign * weight[v] * gain[key[v]]
    for k in range(np.uint64(0), np.uint64(len(row)), step):  # one iteration for up to 16 labels
        best = max(best, largest_in_simd_row(load_simd_row(row, k, width)))
    return best
