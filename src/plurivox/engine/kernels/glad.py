"""Kernels of ability and difficulty: a vote is right with the chance sigmoid(x), where x = ability * ease.

A vote for k adds x + log(n_labels - 1) to the score of k, and -log(1 + e^x) - log(n_labels - 1) to that of every label.
"""

import math

import numpy as np

from plurivox.core.types import Bools, Floats, Ints
from plurivox.engine.jit import inline, kernel
from plurivox.engine.kernels.fast_math import fast_exp, fast_log
from plurivox.engine.kernels.softmax import answer_end, copy_row, softmax

MAX_CURVATURE = -0.1  # a curvature nearer to zero than this says too little about how far to step
MAX_LOG_STEP = 2.0  # of a step in the log of the ease
MAX_STEP_CUTS = 12  # how often a step that lowers the objective is cut before the task stays where it is
STEP_CUT = 0.25
ROUNDING_TOLERANCE = 1e-13  # relative: a step this little below is no fall


@kernel
def em_pass(
    first: int,
    last: int,
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
    n_true: Floats,
    ability_sum: Floats,
    ability_precision: Floats,
) -> float:
    """Fill prob[task, true] and better[task], a log ease that is no worse; add to the sums of the M-step.

    Returns the objective of the abilities and eases that are given. With the bound of Jaakkola and Jordan on log sigmoid,
    tight at x, the best ability of a worker is (mean + toward) / (1 + grip), and no step can lower the objective. The row
    of a `clamped` task is what is known of its label, and stays.
    """
    n_labels = len(log_prior)
    score, pull = np.empty(n_labels), np.empty(n_labels)
    value = 0.0
    for t in range(first, last):
        row, known = prob[t], clamped[t]
        gain, new_log_ease[t] = _newton_step(
            start[t], start[t + 1], worker, said, weight, known, log_prior, ability, log_ease[t], ease_mean,
            row, score, pull,
        )  # fmt: skip
        value += gain
        for k in range(n_labels):
            n_true[k] += row[k]
        ease = math.exp(new_log_ease[t])
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            x = abs(ability[worker[v]] * ease)
            small = fast_exp(-x)
            bend = 0.25 if x < 1e-4 else (1.0 - small) / ((1.0 + small) * 2.0 * x)  # tanh(x / 2) / 2 x
            ability_sum[worker[v]] += w * (row[said[v]] - 0.5) * ease
            ability_precision[worker[v]] += w * bend * ease * ease
    return value


@kernel
def posterior(
    first: int,
    last: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    clamped: Bools,
    log_prior: Floats,
    ability: Floats,
    log_ease: Floats,
    prob: Floats,
    agree: Floats,
    information: Floats,
) -> float:
    """Fill prob[task, true] unless the task is clamped; add to agree[worker] and information[worker].

    agree gains weight * p(true = said | the votes of the other workers on the task); information gains minus the second
    derivative of the log-likelihood in the ability. Rows of one worker stand together in a task, and hang on the same
    unknown label.
    """
    n_labels = len(log_prior)
    score, rest, given = np.empty(n_labels), np.empty(n_labels), np.empty(n_labels)
    log_others = math.log(max(n_labels - 1.0, 1.0))
    for t in range(first, last):
        row, known, ease = prob[t], clamped[t], math.exp(log_ease[t])
        copy_row(log_prior, score)
        for v in range(start[t], start[t + 1]):
            score[said[v]] += (ability[worker[v]] * ease + log_others) * (1.0 if weight is None else weight[v])
        if not known:
            copy_row(score, row)
            softmax(row)
        lo = start[t]
        while lo < start[t + 1]:
            who, hi, whole = worker[lo], answer_end(lo, start[t + 1], worker), 0.0
            given[:] = 0.0
            for v in range(lo, hi):
                given[said[v]] += 1.0 if weight is None else weight[v]
                whole += 1.0 if weight is None else weight[v]
            x = ability[who] * ease
            small = math.exp(-abs(x))
            share, spread = _leave_one_out(given, score, x + log_others, row, known, rest)
            agree[who] += share
            information[who] += ease * ease * (whole * small / (1.0 + small) ** 2 - spread)
            lo = hi
    return 0.0


# ---- parts of the above


@inline
def _leave_one_out(
    given: Floats, score: Floats, log_odds: float, row: Floats, known: bool, rest: Floats
) -> tuple[float, float]:
    """What a worker gave to each label: (how much of it the rest agrees with, its variance over the unknown label)."""
    for k in range(len(row)):
        rest[k] = score[k] - given[k] * log_odds
    softmax(rest)
    agree, mean, square = 0.0, 0.0, 0.0
    for k in range(len(row)):
        agree += given[k] * (row[k] if known else rest[k])
        mean += given[k] * row[k]
        square += given[k] * given[k] * row[k]
    return agree, 0.0 if known else square - mean * mean


@inline
def _newton_step(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    known: bool,
    log_prior: Floats,
    ability: Floats,
    here: float,
    mean: float,
    row: Floats,
    score: Floats,
    pull: Floats,
) -> tuple[float, float]:
    """One task: (its objective at the log ease `here`, a log ease where it is no lower).

    The step is Newton's, made shorter until it pays. `row` becomes the posterior at the better ease.
    """
    best, there, step = 0.0, here, 0.0
    for i in range(MAX_STEP_CUTS + 2):
        value, slope, curve = _log_likelihood(
            lo, hi, worker, said, weight, known, log_prior, ability, there, row, score, pull
        )
        value -= 0.5 * (there - mean) ** 2
        if i == 0:
            best = value
            step = -(slope - (there - mean)) / min(curve - 1.0, MAX_CURVATURE)
            step = min(max(step, -MAX_LOG_STEP), MAX_LOG_STEP)
        elif value >= best - ROUNDING_TOLERANCE * abs(best):
            break
        else:
            step *= STEP_CUT
        there = here + (step if i < MAX_STEP_CUTS else 0.0)
    return best, there


@inline
def _log_likelihood(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    known: bool,
    log_prior: Floats,
    ability: Floats,
    log_ease: float,
    row: Floats,
    score: Floats,
    pull: Floats,
) -> tuple[float, float, float]:
    """One task at one ease: (log likelihood, its slope and curvature in the log of the ease)."""
    ease, log_others = math.exp(log_ease), math.log(max(len(row) - 1.0, 1.0))
    for k in range(len(row)):
        score[k], pull[k] = log_prior[k], 0.0
    shared, slope, curve = 0.0, 0.0, 0.0
    for v in range(lo, hi):
        w = 1.0 if weight is None else weight[v]
        x = ability[worker[v]] * ease
        small = fast_exp(-abs(x))
        right = (1.0 if x >= 0.0 else small) / (1.0 + small)
        score[said[v]] += w * (x + log_others)
        pull[said[v]] += w * x
        shared -= w * (max(x, 0.0) + fast_log(1.0 + small) + log_others)
        slope -= w * right * x
        curve -= w * right * x * (1.0 + (1.0 - right) * x)
    value, mean, spread = _posterior_row(score, pull, known, row)
    return shared + value, slope + mean, curve + mean + spread  # a label that is not known makes the top less sharp


@inline
def _posterior_row(score: Floats, pull: Floats, known: bool, row: Floats) -> tuple[float, float, float]:
    """Turn scores into the posterior `row`: (log of their sum, mean and variance of `pull` under it).

    A row that is `known` stays as it is; the first number then is the mean of the scores under it.
    """
    value, mean, spread = 0.0, 0.0, 0.0
    if known:
        for k in range(len(row)):
            if row[k] > 0.0:
                value += row[k] * score[k]
                mean += row[k] * pull[k]
        return value, mean, spread
    copy_row(score, row)
    value = softmax(row)
    for k in range(len(row)):
        mean += row[k] * pull[k]
    for k in range(len(row)):
        spread += row[k] * (pull[k] - mean) ** 2
    return value, mean, spread
