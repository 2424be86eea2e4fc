"""E-step and count kernels of models with one confusion matrix per worker (Dawid-Skene, IBCC, clusters, Raykar)."""

import math
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.simd_vector_type import (
    add_scaled_simd_row,
    add_simd_rows,
    largest_in_simd_row,
    load_simd_row,
    multiply_simd_rows,
    prefetch_cache_line,
    store_simd_row,
)
from plurivox.engine.kernels.softmax_and_leave_worker_out import (
    add_leave_one_out_agreement,
    add_log_via_running_product,
    constant_simd_row,
    copy_row,
    fill_exp_minus_maximum_return_sum,
)
from plurivox.engine.numba_compilation import compile_inlined_by_numba, compile_kernel

PREFETCH_VOTES = 16  # how many votes ahead to prefetch table rows
CACHED_CELLS = 2**18  # cells of a table that fits into a fast cache
LINE_FLOATS = np.uint64(8)  # float64 per cache line
MAX_TWO_LINE_FLOATS = np.uint64(12)  # longest row that touches two cache lines at most


@compile_kernel
def e_step_adding_expected_counts(
    first_task: int,
    end_task: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    log_confusion: Floats,
    width: Any,
    tasks_per_label: Floats,
    counts: Floats,
) -> float:
    """Run the E-step of some tasks; add expected counts to tasks_per_label[true] and counts[key, true].

    Return the log-likelihood. p(true | votes) is proportional to exp(log_prior[true] + sum over votes of weight *
    log_confusion[key, true]).
    """
    n_labels = np.uint64(len(log_prior))
    prior = constant_simd_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row = np.empty(len(prior))
    end, ahead = np.uint64(start[end_task]), n_votes_to_prefetch_ahead(first_task, end_task, start, log_confusion)
    value, product = 0.0, 1.0
    for t in range(np.uint64(first_task), np.uint64(end_task)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(key, min(lo + ahead, end), min(hi + ahead, end), n_labels, log_confusion, counts)
        best = fill_log_scores_return_maximum(
            lo, hi, None, key, weight, prior, log_confusion, n_labels, 1.0, width, row
        )
        mass = fill_exp_minus_maximum_return_sum(row, best, width, row)
        add_task_posterior_to_counts(lo, hi, key, weight, row, 1 / mass, n_labels, width, tasks_per_label, counts)
        value, product = add_log_via_running_product(value, product, best, mass)
    return value + math.log(product)


@compile_kernel
def hard_e_step_adding_counts(
    first_task: int,
    end_task: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    log_confusion: Floats,
    width: Any,
    tasks_per_label: Floats,
    counts: Floats,
) -> float:
    """Run a hard E-step, probability 1 on each task's most probable label (first of ties); add to tasks_per_label and counts.

    Return the log-likelihood of the votes and of these labels.
    """
    n_labels = np.uint64(len(log_prior))
    prior = constant_simd_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row = np.empty(len(prior))
    value = 0.0
    for t in range(np.uint64(first_task), np.uint64(end_task)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        best = fill_log_scores_return_maximum(
            lo, hi, None, key, weight, prior, log_confusion, n_labels, 1.0, width, row
        )
        true = np.uint64(0)
        while row[true] < best:
            true += np.uint64(1)
        tasks_per_label[true] += 1.0
        for v in range(lo, hi):
            counts[np.uint64(key[v]) * n_labels + true] += 1.0 if weight is None else weight[v]
        value += best
    return value


@compile_kernel
def fill_posterior_and_add_agreement(
    first_task: int,
    end_task: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    worker: Ints,
    said: Ints,
    log_prior: Floats,
    log_confusion: Floats,
    width: Any,
    prob: Floats,
    agreeing_weight: Floats | None,
) -> float:
    """Run the E-step of some tasks without counts: fill the posterior prob[task, true]; return the log-likelihood.

    log_prior has one row, or one per task. If `agreeing_weight` is given, add to agreeing_weight[worker] weight * p(true =
    said | the votes of the other workers on the task).
    """
    n_labels, own_prior = np.uint64(log_prior.shape[1]), np.uint64(len(log_prior) > 1)
    prior = constant_simd_row(log_prior.shape[1], width, -math.inf)
    row, rest = np.empty(len(prior)), np.empty(len(prior))
    last_vote, ahead = np.uint64(start[end_task]), n_votes_to_prefetch_ahead(first_task, end_task, start, log_confusion)
    value, product = 0.0, 1.0
    for t in range(np.uint64(first_task), np.uint64(end_task)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(
                key, min(lo + ahead, last_vote), min(hi + ahead, last_vote), n_labels, log_confusion, log_confusion
            )
        for k in range(n_labels):
            prior[k] = log_prior[t * own_prior, k]
        best = fill_log_scores_return_maximum(
            lo, hi, None, key, weight, prior, log_confusion, n_labels, 1.0, width, row
        )
        mass = fill_exp_minus_maximum_return_sum(row, best, width, rest)
        value, product = add_log_via_running_product(value, product, best, mass)
        for k in range(n_labels):
            prob[t, k] = rest[k] / mass
        if agreeing_weight is not None:
            add_leave_one_out_agreement(
                lo,
                hi,
                worker,
                said,
                key,
                weight,
                row,
                log_confusion,
                n_labels,
                None,
                fill_log_scores_return_maximum,
                width,
                rest,
                agreeing_weight,
            )
    return value + math.log(product)


@compile_kernel
def add_expected_counts_under_posterior(
    first_task: int,
    end_task: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    prob: Floats,
    width: Any,
    tasks_per_label: Floats,
    counts: Floats,
) -> float:
    """Add the expected counts under a posterior prob[task, true] to tasks_per_label[true] and counts[key, true]."""
    n_labels = np.uint64(prob.shape[1])
    row = constant_simd_row(prob.shape[1], width, 0.0)
    end, ahead = np.uint64(start[end_task]), n_votes_to_prefetch_ahead(first_task, end_task, start, counts)
    for t in range(np.uint64(first_task), np.uint64(end_task)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(key, min(lo + ahead, end), min(hi + ahead, end), n_labels, counts, counts)
        for k in range(n_labels):
            row[k] = prob[t, k]
        add_task_posterior_to_counts(lo, hi, key, weight, row, 1.0, n_labels, width, tasks_per_label, counts)
    return 0.0


@compile_kernel
def fill_vote_shares_or_uniform(
    first_task: int, end_task: int, start: Ints, said: Ints, weight: Floats | None, prob: Floats
) -> float:
    """Fill prob[task, label] with the share of the votes on each task that each label has; uniform if a task has no votes."""
    n_labels = prob.shape[1]
    for t in range(first_task, end_task):
        row, mass = prob[t], 0.0
        for k in range(n_labels):
            row[k] = 0.0
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            row[said[v]] += w
            mass += w
        for k in range(n_labels):
            row[k] = row[k] / mass if mass > 0.0 else 1 / n_labels
    return 0.0


# ---- helpers


@compile_inlined_by_numba
def n_votes_to_prefetch_ahead(first_task: int, end_task: int, start: Ints, table: Floats) -> np.uint64:
    """Return how many votes ahead to prefetch table rows; 0 if that would not help.

    It does not help for a table in the cache, nor for tasks with many votes, whose reads overlap anyway.
    """
    many_votes = start[end_task] - start[first_task] > PREFETCH_VOTES * (end_task - first_task)
    return np.uint64(0 if many_votes or len(table) <= CACHED_CELLS else PREFETCH_VOTES)


@compile_inlined_by_numba
def prefetch_rows_of_votes(key: Ints, lo: int, hi: int, n_labels: int, log_confusion: Floats, counts: Floats) -> None:
    """Prefetch the rows of `log_confusion` and `counts` that the votes lo:hi will need into the cache."""
    # a short row is in the lines of its first and last number
    step = LINE_FLOATS if n_labels > MAX_TWO_LINE_FLOATS else n_labels
    for v in range(lo, hi):
        at = np.uint64(key[v]) * n_labels
        for k in range(np.uint64(0), n_labels, step):
            prefetch_cache_line(log_confusion, at + k)
            prefetch_cache_line(counts, at + k)
        prefetch_cache_line(log_confusion, at + n_labels - np.uint64(1))
        prefetch_cache_line(counts, at + n_labels - np.uint64(1))


@compile_inlined_by_numba
def fill_log_scores_return_maximum(
    lo: int,
    hi: int,
    said: Ints | None,
    key: Ints,
    weight: Floats | None,
    base_row: Floats,
    log_confusion: Floats,
    n_labels: int,
    sign: float,
    width: Any,
    row: Floats,
) -> float:
    """Fill row[true] = base_row + sign * the votes' weighted log p(said | true), over votes lo:hi; return the row's maximum.

    `said` is not used, since a key here is worker and said label together: `add_leave_one_out_agreement` calls the
    `fill_log_scores_return_maximum` of every model with the same arguments.
    """
    best, step = -math.inf, np.uint64(4 * len(width))
    for k in range(np.uint64(0), np.uint64(len(row)), step):  # one iteration for up to 16 labels
        x = load_simd_row(base_row, k, width)
        for v in range(lo, hi):
            log_prob = load_simd_row(log_confusion, np.uint64(key[v]) * n_labels + k, width)
            x = add_scaled_simd_row(x, log_prob, sign if weight is None else sign * weight[v])
        store_simd_row(row, k, x)
        best = max(best, largest_in_simd_row(x))
    return best


@compile_inlined_by_numba
def add_task_posterior_to_counts(
    lo: int,
    hi: int,
    key: Ints,
    weight: Floats | None,
    row: Floats,
    factor: float,
    n_labels: int,
    width: Any,
    tasks_per_label: Floats,
    counts: Floats,
) -> None:
    """Add a task's posterior, row * factor, to tasks_per_label and, times vote weight, to counts[key] of its votes lo:hi."""
    for k in range(np.uint64(0), np.uint64(len(row)), np.uint64(4 * len(width))):
        x = multiply_simd_rows(load_simd_row(row, k, width), factor)
        store_simd_row(tasks_per_label, k, add_simd_rows(load_simd_row(tasks_per_label, k, width), x))
        for v in range(lo, hi):
            at = np.uint64(key[v]) * n_labels + k
            old = load_simd_row(counts, at, width)
            store_simd_row(
                counts, at, add_simd_rows(old, x) if weight is None else add_scaled_simd_row(old, x, weight[v])
            )
