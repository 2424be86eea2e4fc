"""Dispersion of votes or probabilities over labels (maximum, entropy, moments), and distances between distributions.

The columns of `out` (n_tasks, 4), for the shares p_k: the largest; the entropy -sum p log p in nats; the sums over all
labels of (p - 1/K)^2 and of (p - 1/K)^4. The row of a task without votes is not changed.

Sums over labels are taken in order of size, so that the same shares in another order of the labels give the same bits:
otherwise rounding breaks ties in rank tests and rankings.
"""

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.engine.kernels.fast_math import fast_log
from plurivox.engine.numba_compilation import compile_inlined_by_llvm, compile_kernel

MIN_PROBABILITY = 1e-300  # argument of the log for p = 0
INSERTION_SORT_SIZE = 32  # numbers up to which a plain insertion sort is faster than a Shell sort


@compile_inlined_by_llvm
def sort_first(values: Floats, n: int) -> None:
    """Sort values[:n] in place, ascending: Shell sort, whose last round, the only one for few values, is an insertion sort.

    Numba's own sort is a third faster for a thousand values, but takes almost a second to compile.
    """
    gap = 1
    while n > INSERTION_SORT_SIZE and gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            value, at = values[i], i
            while at >= gap and values[at - gap] > value:
                values[at] = values[at - gap]
                at -= gap
            values[at] = value
        gap //= 3


@compile_inlined_by_llvm
def sum_in_order_of_size(values: Floats) -> float:
    """Return the sum of `values`, smallest first; sorts them in place."""
    sort_first(values, len(values))
    total = 0.0
    for k in range(len(values)):
        total += values[k]
    return total


@compile_inlined_by_llvm
def fill_row_from_shares(shares: Floats, n: int, n_labels: int, terms: Floats, row: Floats) -> None:
    """Fill `row` (4,) with maximum, entropy and two moments of the shares[:n]; the other labels have share 0.

    Sorts shares[:n] in place and overwrites terms[:n].
    """
    sort_first(shares, n)
    for k in range(n):  # a loop of its own, so that the logs are vectorised
        terms[k] = shares[k] * fast_log(max(shares[k], MIN_PROBABILITY))
    mean = 1.0 / n_labels
    entropy, second, fourth = 0.0, 0.0, 0.0
    for k in range(n):
        entropy -= terms[k]
        square = (shares[k] - mean) * (shares[k] - mean)
        second += square
        fourth += square * square
    rest = n_labels - n
    row[0], row[1] = max(shares[n - 1], 0.0), max(entropy, 0.0)
    row[2] = second + rest * mean * mean
    row[3] = fourth + rest * mean * mean * mean * mean


@compile_kernel
def fill_vote_max_entropy_and_moments(
    first_task: int, end_task: int, start: Ints, label: Ints, weight: Floats | None, n_labels: int, out: Floats
) -> None:
    """Fill out[task] with maximum, entropy and two moments of the vote shares of tasks first_task:end_task, from the votes."""
    seen, shares, terms = np.zeros(n_labels), np.empty(n_labels), np.empty(n_labels)
    for t in range(first_task, end_task):
        for v in range(start[t], start[t + 1]):
            seen[label[v]] += 1.0 if weight is None else weight[v]
        n = np.int64(0)  # a plain 0 would be a type of its own, for which numba compiles the helpers once more
        for v in range(start[t], start[t + 1]):
            if seen[label[v]] > 0.0:  # else the label is done
                shares[n] = seen[label[v]]
                seen[label[v]] = 0.0
                n += 1
        if n == 0:
            continue
        sort_first(shares, n)  # before adding, so that the sum does not depend on the order of the labels
        total = 0.0
        for k in range(n):
            total += shares[k]
        for k in range(n):
            shares[k] /= total
        fill_row_from_shares(shares, n, n_labels, terms, out[t])


@compile_kernel
def fill_max_entropy_and_moments(first_task: int, end_task: int, prob: Floats, out: Floats) -> None:
    """Fill out[task] with maximum, entropy and two moments of the probabilities prob[task] of tasks first_task:end_task."""
    n_labels = prob.shape[1]
    shares, terms = np.empty(n_labels), np.empty(n_labels)
    for t in range(first_task, end_task):
        n = np.int64(0)  # a plain 0 would be a type of its own, for which numba compiles the helpers once more
        for k in range(n_labels):
            shares[n] = prob[t, k]
            n += prob[t, k] != 0.0
        if n > 0:
            fill_row_from_shares(shares, n, n_labels, terms, out[t])


@compile_kernel
def add_total_variation(first_task: int, end_task: int, p: Floats, q: Floats, out: Floats) -> None:
    """Add to out[task] the total variation distance 1/2 sum |p - q| of p[task] and q[task], for tasks first_task:end_task."""
    terms = np.empty(p.shape[1])
    for t in range(first_task, end_task):
        for k in range(p.shape[1]):
            terms[k] = abs(p[t, k] - q[t, k])
        out[t] += 0.5 * sum_in_order_of_size(terms)


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
        out[t] += max(sum_in_order_of_size(terms), 0.0)
