"""Kernels of competence: a worker knows the true label, or guesses."""

import math

import numpy as np

from plurivox.engine.jit import kernel


@kernel
def sweep_tasks(first, last, start, cell, label, weight, log_prior, gain, held, posterior, right, labels):  # type: ignore[no-untyped-def]
    """Tasks first:last: their posterior, and the weight of right votes in each cell.

    A cell is a worker and a label said. A vote speaks for its own label only: by gain[cell] = log(1 + know / guess),
    where `know` and `guess` are the chances of saying the label because one knows it or by guessing. What guessing
    alone gives is left to the caller. Returns the log likelihood without it. `right` gains w * posterior[t, said],
    `labels` the posterior of every task that has votes.
    """
    n_labels = len(log_prior)
    score = np.empty(n_labels)
    total = 0.0
    for t in range(first, last):
        begin, end, fixed, row = start[t], start[t + 1], len(held) > 0 and held[t], posterior[t]
        for k in range(n_labels):
            score[k] = log_prior[k]
        for v in range(begin, end):
            score[label[v]] += gain[cell[v]] * (weight[v] if len(weight) else 1.0)
        if fixed:
            for k in range(n_labels):
                total += row[k] * score[k] if row[k] > 0 else 0.0
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
            total += top + math.log(mass)
        for k in range(n_labels if begin < end else 0):
            labels[k] += row[k]
        for v in range(begin, end):
            right[cell[v]] += row[label[v]] * (weight[v] if len(weight) else 1.0)
    return total
