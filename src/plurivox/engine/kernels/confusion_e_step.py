"""E-step and count kernels of models with one confusion matrix per worker (Dawid-Skene, IBCC, clusters, Raykar)."""

import math
from typing import Any

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.engine.jit import inline, kernel
from plurivox.engine.kernels.simd import add, add_scaled, load, prefetch, row_max, scale, store
from plurivox.engine.kernels.softmax import add_leave_one_out_agreement, add_log_mass, copy_row, exp_row, padded_row

PREFETCH_VOTES = 16  # how many votes ahead to prefetch table rows
CACHED_CELLS = 2**18  # cells of a table that fits into a fast cache
LINE_FLOATS = np.uint64(8)  # float64 per cache line
MAX_TWO_LINE_FLOATS = np.uint64(12)  # longest row that touches two cache lines at most


@kernel
def em_pass(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    log_confusion: Floats,
    width: Any,
    n_true: Floats,
    counts: Floats,
) -> float:
    """Run the E-step of tasks first:last; add expected counts to n_true[true] and counts[key, true]; return the log-likelihood.

    p(true | votes) is proportional to exp(log_prior[true] + sum over votes of weight * log_confusion[key, true]).
    """
    n_labels = np.uint64(len(log_prior))
    prior = padded_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row = np.empty(len(prior))
    end, ahead = np.uint64(start[last]), prefetch_distance(first, last, start, log_confusion)
    value, product = 0.0, 1.0
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(key, min(lo + ahead, end), min(hi + ahead, end), n_labels, log_confusion, counts)
        best = add_votes(lo, hi, None, key, weight, prior, log_confusion, n_labels, 1.0, width, row)
        mass = exp_row(row, best, width, row)
        add_counts(lo, hi, key, weight, row, 1 / mass, n_labels, width, n_true, counts)
        value, product = add_log_mass(value, product, best, mass)
    return value + math.log(product)


@kernel
def hard_em_pass(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    log_confusion: Floats,
    width: Any,
    n_true: Floats,
    counts: Floats,
) -> float:
    """Run a hard E-step, probability 1 on each task's most probable label (first of ties); add to n_true and counts.

    Return the log-likelihood of the votes and of these labels.
    """
    n_labels = np.uint64(len(log_prior))
    prior = padded_row(len(log_prior), width, -math.inf)
    copy_row(log_prior, prior)
    row = np.empty(len(prior))
    value = 0.0
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        best = add_votes(lo, hi, None, key, weight, prior, log_confusion, n_labels, 1.0, width, row)
        true = np.uint64(0)
        while row[true] < best:
            true += np.uint64(1)
        n_true[true] += 1.0
        for v in range(lo, hi):
            counts[np.uint64(key[v]) * n_labels + true] += 1.0 if weight is None else weight[v]
        value += best
    return value


@kernel
def posterior(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    worker: Ints,
    said: Ints,
    log_prior: Floats,
    log_confusion: Floats,
    width: Any,
    prob: Floats,
    agree: Floats | None,
) -> float:
    """Run the E-step of tasks first:last without counts: fill the posterior prob[task, true]; return the log-likelihood.

    log_prior has one row, or one per task. With `agree`, add to agree[worker] weight * p(true = said | the votes of the
    other workers on the task).
    """
    n_labels, own_prior = np.uint64(log_prior.shape[1]), np.uint64(len(log_prior) > 1)
    prior = padded_row(log_prior.shape[1], width, -math.inf)
    row, rest = np.empty(len(prior)), np.empty(len(prior))
    last_vote, ahead = np.uint64(start[last]), prefetch_distance(first, last, start, log_confusion)
    value, product = 0.0, 1.0
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(
                key, min(lo + ahead, last_vote), min(hi + ahead, last_vote), n_labels, log_confusion, log_confusion
            )
        for k in range(n_labels):
            prior[k] = log_prior[t * own_prior, k]
        best = add_votes(lo, hi, None, key, weight, prior, log_confusion, n_labels, 1.0, width, row)
        mass = exp_row(row, best, width, rest)
        value, product = add_log_mass(value, product, best, mass)
        for k in range(n_labels):
            prob[t, k] = rest[k] / mass
        if agree is not None:
            add_leave_one_out_agreement(
                lo, hi, worker, said, key, weight, row, log_confusion, n_labels, None, add_votes, width, rest, agree
            )
    return value + math.log(product)


@kernel
def count_votes(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    prob: Floats,
    width: Any,
    n_true: Floats,
    counts: Floats,
) -> float:
    """Add the expected counts under a posterior prob[task, true] to n_true[true] and counts[key, true]."""
    n_labels = np.uint64(prob.shape[1])
    row = padded_row(prob.shape[1], width, 0.0)
    end, ahead = np.uint64(start[last]), prefetch_distance(first, last, start, counts)
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            prefetch_rows_of_votes(key, min(lo + ahead, end), min(hi + ahead, end), n_labels, counts, counts)
        for k in range(n_labels):
            row[k] = prob[t, k]
        add_counts(lo, hi, key, weight, row, 1.0, n_labels, width, n_true, counts)
    return 0.0


@kernel
def vote_shares(first: int, last: int, start: Ints, said: Ints, weight: Floats | None, prob: Floats) -> float:
    """Fill prob[task, label] with the share of the votes on each task that each label has; uniform if a task has no votes."""
    n_labels = prob.shape[1]
    for t in range(first, last):
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


@inline
def prefetch_distance(first: int, last: int, start: Ints, table: Floats) -> np.uint64:
    """Return how many votes ahead to prefetch table rows; 0 if that would not help.

    It does not help for a table in the cache, nor for tasks with many votes, whose reads overlap anyway.
    """
    many_votes = start[last] - start[first] > PREFETCH_VOTES * (last - first)
    return np.uint64(0 if many_votes or len(table) <= CACHED_CELLS else PREFETCH_VOTES)


@inline
def prefetch_rows_of_votes(key: Ints, lo: int, hi: int, n_labels: int, log_confusion: Floats, counts: Floats) -> None:
    """Prefetch the rows of `log_confusion` and `counts` that the votes lo:hi will need into the cache."""
    step = (
        LINE_FLOATS if n_labels > MAX_TWO_LINE_FLOATS else n_labels
    )  # a short row is in the lines of its first and last number
    for v in range(lo, hi):
        at = np.uint64(key[v]) * n_labels
        for k in range(np.uint64(0), n_labels, step):
            prefetch(log_confusion, at + k)
            prefetch(counts, at + k)
        prefetch(log_confusion, at + n_labels - np.uint64(1))
        prefetch(counts, at + n_labels - np.uint64(1))


@inline
def add_votes(
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
    `add_votes` of every model with the same arguments.
    """
    best, step = -math.inf, np.uint64(4 * len(width))
    for k in range(np.uint64(0), np.uint64(len(row)), step):  # one iteration for up to 16 labels
        x = load(base_row, k, width)
        for v in range(lo, hi):
            log_prob = load(log_confusion, np.uint64(key[v]) * n_labels + k, width)
            x = add_scaled(x, log_prob, sign if weight is None else sign * weight[v])
        store(row, k, x)
        best = max(best, row_max(x))
    return best


@inline
def add_counts(
    lo: int,
    hi: int,
    key: Ints,
    weight: Floats | None,
    row: Floats,
    factor: float,
    n_labels: int,
    width: Any,
    n_true: Floats,
    counts: Floats,
) -> None:
    """Add a task's posterior, row * factor, to n_true and, times the vote weight, to counts[key] of each of its votes lo:hi."""
    for k in range(np.uint64(0), np.uint64(len(row)), np.uint64(4 * len(width))):
        x = scale(load(row, k, width), factor)
        store(n_true, k, add(load(n_true, k, width), x))
        for v in range(lo, hi):
            at = np.uint64(key[v]) * n_labels + k
            old = load(counts, at, width)
            store(counts, at, add(old, x) if weight is None else add_scaled(old, x, weight[v]))
