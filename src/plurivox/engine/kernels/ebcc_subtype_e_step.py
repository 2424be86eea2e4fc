"""E-step and count kernels of models in which each label has subtypes of tasks (EBCC).

A kind is one subtype of one label. Kinds are sorted by label; those of label l are label_start[l]:label_start[l + 1].
"""

import math
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.confusion_e_step import (
    add_task_posterior_to_counts,
    fill_log_scores_return_maximum,
    n_votes_to_prefetch_ahead,
    prefetch_rows_of_votes,
)
from plurivox.engine.kernels.simd_vector_type import (
    add_simd_rows,
    exp_of_simd_row,
    largest_in_simd_row,
    load_simd_row,
    multiply_simd_rows,
    store_simd_row,
    sum_of_simd_row,
)
from plurivox.engine.kernels.softmax_and_leave_worker_out import (
    add_leave_one_out_agreement,
    add_log_via_running_product,
    constant_simd_row,
    copy_row,
    fill_exp_minus_maximum_return_sum,
    softmax_in_place_return_logsumexp,
)
from plurivox.engine.numba_compilation import compile_kernel

VECTOR_CELLS, ONE_VECTOR = np.uint64(4), (0,)  # cells per SIMD vector, and the `width` of one vector


@compile_kernel
def e_step_of_em_runs_adding_counts(
    first_task: int,
    end_task: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    log_confusion: Floats,
    run_column_edges: Ints,
    width: Any,
    n_kind: Floats,
    counts: Floats,
    log_likelihood_of_run: Floats,
) -> float:
    """Run the E-step of several EM runs on some tasks; add expected counts to n_kind[column] and counts[key, column].

    Run r has the columns run_column_edges[r]:run_column_edges[r + 1], a multiple of four; log_prior is -inf in those without
    a kind. Within each run p(kind | votes) is proportional to exp(log_prior[kind] + sum over votes of weight *
    log_confusion[key, kind]). Its log-likelihood is added to log_likelihood_of_run[r].
    """
    n_columns, n_runs = np.uint64(len(log_prior)), len(run_column_edges) - 1
    prior = constant_simd_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row = np.empty(len(prior))
    end, ahead = np.uint64(start[end_task]), n_votes_to_prefetch_ahead(first_task, end_task, start, log_confusion)
    product = np.ones(n_runs)
    for t in range(np.uint64(first_task), np.uint64(end_task)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(key, min(lo + ahead, end), min(hi + ahead, end), n_columns, log_confusion, counts)
        fill_log_scores_return_maximum(lo, hi, None, key, weight, prior, log_confusion, n_columns, 1.0, width, row)
        for run in range(n_runs):
            low, high = np.uint64(run_column_edges[run]), np.uint64(run_column_edges[run + 1])
            best, mass = -math.inf, 0.0
            for k in range(low, high, VECTOR_CELLS):
                best = max(best, largest_in_simd_row(load_simd_row(row, k, ONE_VECTOR)))
            for k in range(low, high, VECTOR_CELLS):
                x = exp_of_simd_row(add_simd_rows(load_simd_row(row, k, ONE_VECTOR), -best))
                store_simd_row(row, k, x)
                mass += sum_of_simd_row(x)
            for k in range(low, high, VECTOR_CELLS):
                store_simd_row(row, k, multiply_simd_rows(load_simd_row(row, k, ONE_VECTOR), 1.0 / mass))
            log_likelihood_of_run[run], product[run] = add_log_via_running_product(
                log_likelihood_of_run[run], product[run], best, mass
            )
        for k in range(n_columns, np.uint64(len(row))):
            row[k] = 0.0
        add_task_posterior_to_counts(lo, hi, key, weight, row, 1.0, n_columns, width, n_kind, counts)
    for run in range(n_runs):
        log_likelihood_of_run[run] += math.log(product[run])
    return 0.0


@compile_kernel
def e_step_of_clamped_tasks_adding_counts(
    start: Ints,
    key: Ints,
    weight: Floats | None,
    known_prob: Floats,
    label_start: Ints,
    log_prior: Floats,
    log_confusion: Floats,
    n_kind: Floats,
    counts: Floats,
) -> float:
    """Run the E-step on tasks with known label distributions known_prob[task, label], inferring only the subtype of each task.

    Add to n_kind[kind] and counts[key, kind]; return the log-likelihood.
    """
    row, value = np.empty(len(log_prior)), 0.0
    for t in range(len(start) - 1):
        copy_row(log_prior, row)
        for v in range(start[t], start[t + 1]):
            for k in range(len(row)):
                row[k] += log_confusion[key[v], k] if weight is None else weight[v] * log_confusion[key[v], k]
        for label in range(len(label_start) - 1):
            kinds, share = row[label_start[label] : label_start[label + 1]], known_prob[t, label]
            gain = softmax_in_place_return_logsumexp(kinds)
            value += share * gain if share > 0.0 else 0.0
            for k in range(len(kinds)):
                kinds[k] *= share
        for k in range(len(row)):
            n_kind[k] += row[k]
            for v in range(start[t], start[t + 1]):
                counts[key[v], k] += row[k] if weight is None else weight[v] * row[k]
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
    label_start: Ints,
    width: Any,
    prob: Floats,
    agreeing_weight: Floats,
) -> float:
    """Fill the posterior prob[task, label]; add to agreeing_weight[worker] weight * p(label = said | the
    other workers' votes on the task).
    """
    n_kinds = np.uint64(len(log_prior))
    prior = constant_simd_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row, rest = np.empty(len(prior)), np.empty(len(prior))
    for t in range(np.uint64(first_task), np.uint64(end_task)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        best = fill_log_scores_return_maximum(lo, hi, None, key, weight, prior, log_confusion, n_kinds, 1.0, width, row)
        mass = fill_exp_minus_maximum_return_sum(row, best, width, rest)
        for label in range(len(label_start) - 1):
            prob[t, label] = 0.0
            for k in range(label_start[label], label_start[label + 1]):
                prob[t, label] += rest[k] / mass
        add_leave_one_out_agreement(
            lo,
            hi,
            worker,
            said,
            key,
            weight,
            row,
            log_confusion,
            n_kinds,
            label_start,
            fill_log_scores_return_maximum,
            width,
            rest,
            agreeing_weight,
        )
    return 0.0
