"""Kernels of ability and difficulty: a vote is right with the chance sigmoid(ability x ease)."""

import math

import numpy as np

from plurivox.engine.jit import kernel

FLATTEST = -0.1  # a curvature nearer to zero than this says too little about how far to step
LONGEST = 2.0  # of a step in the log of the ease
TRIES = 12  # how often a step that lowers the objective is cut before the task stays where it is
CUT = 0.25
ROUNDING = 1e-13  # relative: a step this little below is no fall


@kernel
def settle(score, pull, held, row):  # type: ignore[no-untyped-def]
    """Turn scores into the posterior `row`: (log of their sum, mean and variance of `pull` under it).

    A row that is `held` stays as it is, and the first number is the mean of the scores under it.
    """
    n_labels = len(score)
    value = 0.0
    if held:
        for k in range(n_labels):
            value += row[k] * score[k] if row[k] > 0 else 0.0
    else:
        top = score[0]  # log-sum-exp: products of many votes underflow
        for k in range(1, n_labels):
            top = max(top, score[k])
        mass = 0.0
        for k in range(n_labels):
            row[k] = math.exp(score[k] - top)
            mass += row[k]
        for k in range(n_labels):
            row[k] /= mass
        value = top + math.log(mass)
    mean, spread = 0.0, 0.0
    for k in range(n_labels):
        mean += row[k] * pull[k]
    for k in range(0 if held else n_labels):
        spread += row[k] * (pull[k] - mean) ** 2
    return value, mean, spread


@kernel
def weigh(begin, end, worker, label, weight, ability, log_ease, log_prior, log_others, held, row, score, pull):  # type: ignore[no-untyped-def]
    """One task at one ease: (log likelihood, its slope and curvature in the log of the ease).

    `row` becomes the posterior, unless the task is `held`: then it is what is known. `score` and `pull` are scratch.
    With x = ability * ease, a vote for k adds x + log(n_labels - 1) to the score of k, and -log(1 + e^x) to that of all.
    """
    ease = math.exp(log_ease)
    for k in range(len(score)):
        score[k], pull[k] = log_prior[k], 0.0
    shared, slope, curve = 0.0, 0.0, 0.0
    for v in range(begin, end):
        w = weight[v] if len(weight) else 1.0
        x = ability[worker[v]] * ease
        small = math.exp(-abs(x))
        right = (1.0 if x >= 0 else small) / (1.0 + small)
        score[label[v]] += w * (x + log_others)
        pull[label[v]] += w * x
        shared -= w * (max(x, 0.0) + math.log1p(small) + log_others)
        slope -= w * right * x
        curve -= w * right * x * (1.0 + (1.0 - right) * x)
    value, mean, spread = settle(score, pull, held, row)  # a label that is not known makes the top less sharp
    return shared + value, slope + mean, curve + mean + spread


@kernel
def improve(begin, end, worker, label, weight, ability, here, mean, log_prior, log_others, held, row, score, pull):  # type: ignore[no-untyped-def]
    """One task: (its objective at the log ease `here`, a log ease where it is no lower).

    The step is Newton's, made shorter until it pays. `row` becomes the posterior at the better ease.
    """
    best, there, step = 0.0, here, 0.0
    for i in range(TRIES + 2):
        value, slope, curve = weigh(
            begin, end, worker, label, weight, ability, there, log_prior, log_others, held, row, score, pull
        )
        value -= 0.5 * (there - mean) ** 2
        if i == 0:
            best = value
            step = -(slope - (there - mean)) / min(curve - 1.0, FLATTEST)
            step = min(max(step, -LONGEST), LONGEST)
        elif value >= best - ROUNDING * abs(best):
            break
        else:
            step *= CUT
        there = here + (step if i < TRIES else 0.0)
    return best, there


@kernel
def sweep_tasks(
    first, last, start, worker, label, weight, ability, log_ease, ease_mean, log_prior, log_others, held, posterior, better, toward, grip, labels
):  # type: ignore[no-untyped-def]  # fmt: skip
    """Tasks first:last: a better log ease and its posterior for each, and what the workers need for their step.

    Returns the objective of the abilities and eases it is given. With the bound of Jaakkola and Jordan on log sigmoid,
    tight at x, the best ability of a worker is (mean + toward) / (1 + grip), and no step can lower the objective.
    `labels` gains the posterior of every task that has votes.
    """
    n_labels = len(log_prior)
    score, pull = np.empty(n_labels), np.empty(n_labels)
    total = 0.0
    for t in range(first, last):
        begin, end, fixed, row = start[t], start[t + 1], len(held) > 0 and held[t], posterior[t]
        if begin == end:
            better[t] = ease_mean
            for k in range(0 if fixed else n_labels):
                row[k] = math.exp(log_prior[k])
            continue
        value, better[t] = improve(
            begin, end, worker, label, weight, ability, log_ease[t], ease_mean, log_prior, log_others, fixed, row, score, pull
        )  # fmt: skip
        total += value
        ease = math.exp(better[t])
        for k in range(n_labels):
            labels[k] += row[k]
        for v in range(begin, end):
            w = weight[v] if len(weight) else 1.0
            x = ability[worker[v]] * ease
            bend = 0.25 if abs(x) < 1e-4 else math.tanh(0.5 * x) / (2.0 * x)
            toward[worker[v]] += w * (row[label[v]] - 0.5) * ease
            grip[worker[v]] += w * bend * ease * ease
    return total


@kernel
def inform_tasks(first, last, start, worker, label, weight, ability, log_ease, held, posterior, known):  # type: ignore[no-untyped-def]
    """Add to known[worker] what the votes of the tasks first:last say of the ability: minus the second derivative.

    Rows of one worker stand together in a task; what they say hangs on the same unknown label.
    """
    for t in range(first, last):
        ease = math.exp(log_ease[t])
        row = posterior[t]
        begin = start[t]
        while begin < start[t + 1]:
            w = worker[begin]
            end, mean, square = begin, 0.0, 0.0
            small = math.exp(-abs(ability[w] * ease))
            while end < start[t + 1] and worker[end] == w:
                part = weight[end] if len(weight) else 1.0
                known[w] += part * small / (1.0 + small) ** 2 * ease * ease
                mean += part * row[label[end]]
                square += part * part * row[label[end]]
                for other in range(begin, end):
                    if label[other] == label[end]:
                        square += 2.0 * part * (weight[other] if len(weight) else 1.0) * row[label[end]]
                end += 1
            if not (len(held) and held[t]):
                known[w] -= (square - mean * mean) * ease * ease
            begin = end
    return 0.0
