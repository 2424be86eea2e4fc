"""Gibbs sampling of a hierarchical Dawid-Skene model: the passes over tasks and over workers."""

import math

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.fast_math import fast_exp, fast_log
from plurivox.engine.kernels.softmax_and_leave_worker_out import copy_row
from plurivox.engine.numba_compilation import compile_kernel

TINY = 1e-200  # smallest probability


@compile_kernel
def draw_labels_adding_counts(
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    log_confusion: Floats,
    rng: np.random.Generator,
    n_true: Floats,
    counts: Floats,
) -> None:
    """Draw the true label of each task given the matrices; add the tasks to n_true[true], the votes to counts[key, true].

    `log_confusion` and `counts` are flat tables [worker, said, true].
    """
    n_labels = len(log_prior)
    score, bound = np.empty(n_labels), np.empty(n_labels)
    for t in range(len(start) - 1):
        copy_row(log_prior, score)
        for i in range(start[t], start[t + 1]):
            row = np.int64(key[i]) * n_labels
            share = 1.0 if weight is None else weight[i]
            for k in range(n_labels):
                score[k] += share * log_confusion[row + k]
        best, total = score[0], 0.0
        for k in range(1, n_labels):
            best = max(best, score[k])
        for k in range(n_labels):
            total += fast_exp(max(score[k] - best, -700.0))
            bound[k] = total
        place, true = rng.random() * total, 0
        while true < n_labels - 1 and bound[true] <= place:
            true += 1
        n_true[true] += 1.0
        for i in range(start[t], start[t + 1]):
            counts[np.int64(key[i]) * n_labels + true] += 1.0 if weight is None else weight[i]


@compile_kernel
def draw_workers_adding_auxiliary_counts(
    counts: Floats,
    strength: float,
    share: float,
    errors: Floats,
    crowd: Floats,
    accuracy_prior: tuple[float, float],
    rng: np.random.Generator,
    accuracy: Floats,
    matrices: Floats,
    own_counts: Floats,
    crowd_counts: Floats,
) -> tuple[float, float]:
    """Draw each worker's `accuracy`, and then the worker's confusion matrix, given `counts` (n_workers, said, true).

    Row k of a matrix has the prior Dirichlet(strength ((1 - share) own_k + share crowd_k)), where own_k has the worker's
    accuracy on the diagonal and the other votes distributed as errors[k]; the accuracy has the prior Beta(*accuracy_prior).
    The prior's auxiliary counts (the tables of a Chinese restaurant process per row) are added to own_counts[true, said] and
    crowd_counts[true, said]. Return (sum of log eta, number of flags), the auxiliary variables of `strength`.
    """
    n_labels = len(errors)
    sum_log_eta, n_flags = 0.0, 0.0
    for w in range(len(counts)):
        right, wrong = 0.0, 0.0
        for k in range(n_labels):
            n_row = 0.0
            for said in range(n_labels):
                n_row += counts[w, said, k]
                if counts[w, said, k] == 0:
                    continue
                own = accuracy[w] if said == k else (1 - accuracy[w]) * errors[k, said]
                own_pseudo = strength * (1 - share) * own
                pseudo = own_pseudo + strength * share * crowd[k, said]
                n_own, n_crowd = 0.0, 0.0
                for i in range(math.ceil(counts[w, said, k])):
                    place = rng.random() * (pseudo + i)
                    if place < own_pseudo:
                        n_own += 1
                    elif place < pseudo:
                        n_crowd += 1
                own_counts[k, said] += n_own
                crowd_counts[k, said] += n_crowd
                if said == k:
                    right += n_own
                else:
                    wrong += n_own
            if n_row > 0:
                sum_log_eta += math.log(max(rng.beta(strength + 1, n_row), TINY))
                n_flags += 1.0 if rng.random() * (n_row + strength) < n_row else 0.0
        a = rng.beta(accuracy_prior[0] + right, accuracy_prior[1] + wrong)
        accuracy[w] = a = min(max(a, 1e-9), 1 - 1e-9)
        for k in range(n_labels):
            total = 0.0
            for said in range(n_labels):
                own = a if said == k else (1 - a) * errors[k, said]
                pseudo = strength * ((1 - share) * own + share * crowd[k, said]) + counts[w, said, k]
                matrices[w, said, k] = max(rng.standard_gamma(pseudo), TINY)
                total += matrices[w, said, k]
            for said in range(n_labels):
                matrices[w, said, k] /= total
    return sum_log_eta, n_flags


@compile_kernel
def fill_logs(values: Floats, logs: Floats) -> None:
    """Fill logs[i] with the logarithm of values[i]."""
    for i in range(len(values)):
        logs[i] = fast_log(values[i])
