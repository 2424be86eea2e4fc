"""Kernels of GLAD: a vote is correct with probability sigmoid(x), where x = ability * ease (inverse difficulty).

A vote for k adds x + log(n_labels - 1) to the score of k, and -log(1 + e^x) - log(n_labels - 1) to that of every label.
"""

import math

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.engine.kernels.fast_math import fast_exp, fast_log
from plurivox.engine.kernels.softmax_and_leave_worker_out import (
    copy_row,
    end_of_rows_of_same_worker,
    softmax_in_place_return_logsumexp,
)
from plurivox.engine.numba_compilation import compile_inlined_by_numba, compile_kernel

MAX_CURVATURE = -0.1  # curvatures nearer to zero are replaced by this in the Newton step
MAX_LOG_STEP = 2.0  # largest Newton step in the log of the ease
MAX_STEP_CUTS = 12  # how often a step that lowers the objective is shortened before it is dropped
STEP_CUT = 0.25  # factor of each shortening
ROUNDING_TOLERANCE = 1e-13  # relative decrease of the objective that is taken as rounding


@compile_kernel
def glad_em_pass_return_objective(
    first_task: int,
    end_task: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    clamped: Bools,
    log_prior: Floats,
    ability: Floats,
    log_ease: Floats,
    ease_mean: float,
    prob: Floats,
    new_log_ease: Floats,
    tasks_per_label: Floats,
    ability_sum: Floats,
    ability_precision: Floats,
) -> float:
    """Run one EM pass of GLAD: fill prob[task, true] and new_log_ease[task]; add to the sums for label prior and abilities.

    Return the objective of the given abilities and eases. With the bound of Jaakkola and Jordan on log sigmoid, tight at
    x, the best ability of a worker is (mean + ability_sum) / (1 + ability_precision), and no step can lower the objective.
    The row of a `clamped` task is its known label distribution and is not changed.
    """
    n_labels = len(log_prior)
    score, score_slope = np.empty(n_labels), np.empty(n_labels)
    value = 0.0
    for t in range(first_task, end_task):
        row, known = prob[t], clamped[t]
        gain, new_log_ease[t] = _objective_and_updated_log_ease(
            start[t], start[t + 1], worker, said, weight, known, log_prior, ability, log_ease[t], ease_mean,
            row, score, score_slope,
        )  # fmt: skip
        value += gain
        for k in range(n_labels):
            tasks_per_label[k] += row[k]
        ease = math.exp(new_log_ease[t])
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            x = abs(ability[worker[v]] * ease)
            small = fast_exp(-x)
            bend = 0.25 if x < 1e-4 else (1.0 - small) / ((1.0 + small) * 2.0 * x)  # tanh(x / 2) / 2 x
            ability_sum[worker[v]] += w * (row[said[v]] - 0.5) * ease
            ability_precision[worker[v]] += w * bend * ease * ease
    return value


@compile_kernel
def fill_glad_posterior_add_worker_sums(
    first_task: int,
    end_task: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    clamped: Bools,
    log_prior: Floats,
    ability: Floats,
    log_ease: Floats,
    prob: Floats,
    agreeing_weight: Floats,
    information: Floats,
) -> float:
    """Fill the GLAD posterior prob[task, true] of unclamped tasks; add to agreeing_weight[worker] and information[worker].

    agreeing_weight gets weight * p(true = said | the votes of the other workers on the task); information gets minus the second
    derivative of the log-likelihood in the ability. Rows of one worker are adjacent in a task and share its unknown label.
    """
    n_labels = len(log_prior)
    score, rest, given = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    log_others = math.log(max(n_labels - 1.0, 1.0))
    for t in range(first_task, end_task):
        row, known, ease = prob[t], clamped[t], math.exp(log_ease[t])
        copy_row(log_prior, score)
        for v in range(start[t], start[t + 1]):
            score[said[v]] += (ability[worker[v]] * ease + log_others) * (1.0 if weight is None else weight[v])
        if not known:
            copy_row(score, row)
            softmax_in_place_return_logsumexp(row)
        lo = start[t]
        while lo < start[t + 1]:
            who, hi, whole = worker[lo], end_of_rows_of_same_worker(lo, start[t + 1], worker), 0.0
            given[:] = 0.0
            for v in range(lo, hi):
                given[said[v]] += 1.0 if weight is None else weight[v]
                whole += 1.0 if weight is None else weight[v]
            x = ability[who] * ease
            small = math.exp(-abs(x))
            share, spread = _left_out_worker_agreement_and_variance(given, score, x + log_others, row, known, rest)
            agreeing_weight[who] += share
            information[who] += ease * ease * (whole * small / (1.0 + small) ** 2 - spread)
            lo = hi
    return 0.0


# ---- helpers


@compile_inlined_by_numba
def _left_out_worker_agreement_and_variance(
    answer_weight_per_label: Floats,
    log_score: Floats,
    log_odds: float,
    posterior_row: Floats,
    label_known: bool,
    buffer: Floats,
) -> tuple[float, float]:
    """Return (expected correct weight of one worker's answer given the other votes, its variance over the unknown label).

    `answer_weight_per_label` (n_labels,) is the worker's weight on each label, which is removed from `log_score`; `buffer` is
    overwritten.
    """
    for k in range(len(posterior_row)):
        buffer[k] = log_score[k] - answer_weight_per_label[k] * log_odds
    softmax_in_place_return_logsumexp(buffer)
    agreeing_weight, mean, square = 0.0, 0.0, 0.0
    for k in range(len(posterior_row)):
        agreeing_weight += answer_weight_per_label[k] * (posterior_row[k] if label_known else buffer[k])
        mean += answer_weight_per_label[k] * posterior_row[k]
        square += answer_weight_per_label[k] * answer_weight_per_label[k] * posterior_row[k]
    return agreeing_weight, 0.0 if label_known else square - mean * mean


@compile_inlined_by_numba
def _objective_and_updated_log_ease(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    label_known: bool,
    log_prior: Floats,
    ability: Floats,
    log_ease: float,
    ease_mean: float,
    posterior_row: Floats,
    log_score: Floats,
    score_slope: Floats,
) -> tuple[float, float]:
    """Return (objective of one task at `log_ease`, updated log ease) by a Newton step, shortened until the objective
    does not fall.

    `posterior_row` is set to the posterior at the new ease.
    """
    best, trial, step = 0.0, log_ease, 0.0
    for i in range(MAX_STEP_CUTS + 2):
        value, slope, curve = _log_likelihood_and_log_ease_derivatives(
            lo, hi, worker, said, weight, label_known, log_prior, ability, trial, posterior_row, log_score, score_slope
        )
        value -= 0.5 * (trial - ease_mean) ** 2
        if i == 0:
            best = value
            step = -(slope - (trial - ease_mean)) / min(curve - 1.0, MAX_CURVATURE)
            step = min(max(step, -MAX_LOG_STEP), MAX_LOG_STEP)
        elif value >= best - ROUNDING_TOLERANCE * abs(best):
            break
        else:
            step *= STEP_CUT
        trial = log_ease + (step if i < MAX_STEP_CUTS else 0.0)
    return best, trial


@compile_inlined_by_numba
def _log_likelihood_and_log_ease_derivatives(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    label_known: bool,
    log_prior: Floats,
    ability: Floats,
    log_ease: float,
    posterior_row: Floats,
    log_score: Floats,
    score_slope: Floats,
) -> tuple[float, float, float]:
    """Return log-likelihood of one task's votes and its first two derivatives by the log ease; set `posterior_row`."""
    ease, log_others = math.exp(log_ease), math.log(max(len(posterior_row) - 1.0, 1.0))
    for k in range(len(posterior_row)):
        log_score[k], score_slope[k] = log_prior[k], 0.0
    shared, slope, curve = 0.0, 0.0, 0.0
    for v in range(lo, hi):
        w = 1.0 if weight is None else weight[v]
        x = ability[worker[v]] * ease
        small = fast_exp(-abs(x))
        right = (1.0 if x >= 0.0 else small) / (1.0 + small)
        log_score[said[v]] += w * (x + log_others)
        score_slope[said[v]] += w * x
        shared -= w * (max(x, 0.0) + fast_log(1.0 + small) + log_others)
        slope -= w * right * x
        curve -= w * right * x * (1.0 + (1.0 - right) * x)
    value, mean, spread = _fill_posterior_row_return_score_moments(log_score, score_slope, label_known, posterior_row)
    return shared + value, slope + mean, curve + mean + spread  # the unknown label flattens the maximum


@compile_inlined_by_numba
def _fill_posterior_row_return_score_moments(
    log_score: Floats, score_slope: Floats, label_known: bool, posterior_row: Floats
) -> tuple[float, float, float]:
    """Set `posterior_row` to the softmax of `log_score`; return (log-sum-exp, posterior mean, variance of `score_slope`).

    If `label_known`, the row is not changed; the first number then is the mean of the scores under it, and the variance 0.
    """
    value, mean, spread = 0.0, 0.0, 0.0
    if label_known:
        for k in range(len(posterior_row)):
            if posterior_row[k] > 0.0:
                value += posterior_row[k] * log_score[k]
                mean += posterior_row[k] * score_slope[k]
        return value, mean, spread
    copy_row(log_score, posterior_row)
    value = softmax_in_place_return_logsumexp(posterior_row)
    for k in range(len(posterior_row)):
        mean += posterior_row[k] * score_slope[k]
    for k in range(len(posterior_row)):
        spread += posterior_row[k] * (score_slope[k] - mean) ** 2
    return value, mean, spread
