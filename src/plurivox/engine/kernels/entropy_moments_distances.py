"""Dispersion of votes or probabilities over labels (maximum, entropy, moments), and distances between distributions.

The columns of `out` (n_tasks, 4), for the shares p_k: the largest; the entropy -sum p log p in nats; the sums over all
labels of (p - 1/K)^2 and of (p - 1/K)^4. The row of a task without votes is not changed.
"""

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.fast_math import fast_log
from plurivox.engine.numba_compilation import compile_kernel

MIN_PROBABILITY = 1e-300  # argument of the log for p = 0


@compile_kernel
def fill_vote_max_entropy_and_moments(
    first_task: int, end_task: int, start: Ints, label: Ints, weight: Floats | None, n_labels: int, out: Floats
) -> None:
    """Fill out[task] with maximum, entropy and two moments of the vote shares of tasks first_task:end_task, from the votes."""
    mean = 1.0 / n_labels
    seen = np.zeros(n_labels)
    for t in range(first_task, end_task):
        total = 0.0
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            seen[label[v]] += w
            total += w
        if total <= 0.0:
            continue
        largest, entropy, second, fourth, named = 0.0, 0.0, 0.0, 0.0, 0
        for v in range(start[t], start[t + 1]):
            p = seen[label[v]] / total
            if p > 0.0:  # else the label is done
                seen[label[v]] = 0.0
                largest = max(largest, p)
                entropy -= p * fast_log(max(p, MIN_PROBABILITY))
                square = (p - mean) * (p - mean)
                second += square
                fourth += square * square
                named += 1
        rest = n_labels - named
        out[t, 0], out[t, 1] = largest, max(entropy, 0.0)
        out[t, 2] = second + rest * mean * mean
        out[t, 3] = fourth + rest * mean * mean * mean * mean


@compile_kernel
def fill_max_entropy_and_moments(first_task: int, end_task: int, prob: Floats, out: Floats) -> None:
    """Fill out[task] with maximum, entropy and two moments of the probabilities prob[task] of tasks first_task:end_task."""
    n_labels = prob.shape[1]
    mean = 1.0 / n_labels
    terms = np.empty(n_labels)  # a loop of its own, so that the logs are vectorised
    for t in range(first_task, end_task):
        for k in range(n_labels):
            p = float(prob[t, k])
            terms[k] = p * fast_log(max(p, MIN_PROBABILITY))
        largest, entropy, second, fourth = 0.0, 0.0, 0.0, 0.0
        for k in range(n_labels):
            p = float(prob[t, k])
            largest = max(largest, p)
            entropy -= terms[k]
            square = (p - mean) * (p - mean)
            second += square
            fourth += square * square
        out[t, 0], out[t, 1], out[t, 2], out[t, 3] = largest, max(entropy, 0.0), second, fourth


@compile_kernel
def add_total_variation(first_task: int, end_task: int, p: Floats, q: Floats, out: Floats) -> None:
    """Add to out[task] the total variation distance 1/2 sum |p - q| of p[task] and q[task], for tasks first_task:end_task."""
    for t in range(first_task, end_task):
        apart = 0.0
        for k in range(p.shape[1]):
            apart += abs(p[t, k] - q[t, k])
        out[t] += 0.5 * apart


@compile_kernel
def add_jensen_shannon(first_task: int, end_task: int, p: Floats, q: Floats, out: Floats) -> None:
    """Add to out[task] the Jensen-Shannon divergence of p[task] and q[task], in nats, for tasks first_task:end_task."""
    terms = np.empty(p.shape[1])
    for t in range(first_task, end_task):
        for k in range(p.shape[1]):
            a, b = float(p[t, k]), float(q[t, k])
            middle = 0.5 * (a + b)
            both = a * fast_log(max(a, MIN_PROBABILITY)) + b * fast_log(max(b, MIN_PROBABILITY))
            terms[k] = 0.5 * both - middle * fast_log(max(middle, MIN_PROBABILITY))
        apart = 0.0
        for k in range(p.shape[1]):
            apart += terms[k]
        out[t] += max(apart, 0.0)
