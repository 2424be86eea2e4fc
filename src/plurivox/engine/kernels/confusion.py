"""Passes over the votes for models in which a worker has a confusion matrix (Dawid-Skene, IBCC, clusters)."""

import math
from typing import Any

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.engine.jit import kernel, part
from plurivox.engine.kernels.simd import add, add_scaled, exp, fetch, load, scale, store, top, total

FAR = 1e200  # a product of masses is turned into a sum of logs before it can overflow
AHEAD = 16  # votes between asking for a far number and needing it
NEAR = 2**19  # cells: a table up to this size lies in a cache near enough


@kernel
def sweep(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    table: Floats,
    quads: Any,
    n_true: Floats,
    counts: Floats,
) -> float:
    """E-step and M-step sums in one pass: add to n_true[true] and counts[key, true]; return the log likelihood.

    p(true | votes) is proportional to exp(log_prior[true] + sum over votes of weight * table[key, true]).
    """
    n_labels = np.uint64(len(log_prior))
    row, begin = _rows_for(log_prior, len(quads))
    end, ahead = np.uint64(start[last]), np.uint64(AHEAD if len(table) > NEAR else 0)
    value, mass_so_far = 0.0, 1.0
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            _bring(key, min(lo + ahead, end), min(hi + ahead, end), n_labels, table, counts)
        best = _weigh(lo, hi, key, weight, begin, table, n_labels, 1.0, quads, row)
        mass = _soften(row, best, quads, row)
        _credit(lo, hi, key, weight, row, 1 / mass, n_labels, quads, n_true, counts)
        value += best
        mass_so_far *= mass
        if mass_so_far > FAR:
            value += math.log(mass_so_far)
            mass_so_far = 1.0
    return value + math.log(mass_so_far)


@kernel
def hard_sweep(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    table: Floats,
    quads: Any,
    n_true: Floats,
    counts: Floats,
) -> float:
    """The same with all of a task's mass on its most probable label, the first of tied ones.

    Returns the log likelihood of the votes and of these labels.
    """
    n_labels = np.uint64(len(log_prior))
    row, begin = _rows_for(log_prior, len(quads))
    value = 0.0
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        best = _weigh(lo, hi, key, weight, begin, table, n_labels, 1.0, quads, row)
        true = np.uint64(0)
        while row[true] < best:
            true += np.uint64(1)
        n_true[true] += 1.0
        for v in range(lo, hi):
            counts[np.uint64(key[v]) * n_labels + true] += 1.0 if weight is None else weight[v]
        value += best
    return value


@kernel
def believe(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    log_prior: Floats,
    table: Floats,
    quads: Any,
    posterior: Floats,
    agree: Floats,
) -> float:
    """Fill posterior[task, true], and add to agree[worker] what the rest says in favour of each of its votes.

    That is weight * p(true = said | the other votes on the task): the vote itself is left out.
    """
    n_labels = np.uint64(len(log_prior))
    row, begin = _rows_for(log_prior, len(quads))
    rest = np.empty(len(row))
    last_vote, ahead = np.uint64(start[last]), np.uint64(AHEAD if len(table) > NEAR else 0)
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            _bring(key, min(lo + ahead, last_vote), min(hi + ahead, last_vote), n_labels, table, table)
        best = _weigh(lo, hi, key, weight, begin, table, n_labels, 1.0, quads, row)
        mass = _soften(row, best, quads, rest)
        for k in range(n_labels):
            posterior[t * n_labels + k] = rest[k] / mass
        v = lo
        while v < hi:
            worker, end = np.uint64(key[v]) // n_labels, v
            while end < hi and np.uint64(key[end]) // n_labels == worker:  # the rows of one answer, and its repeats
                end += np.uint64(1)
            best = _weigh(v, end, key, weight, row, table, n_labels, -1.0, quads, rest)
            mass = _soften(rest, best, quads, rest)
            for u in range(v, end):
                said = np.uint64(key[u]) - worker * n_labels
                agree[worker] += (1.0 if weight is None else weight[u]) * rest[said] / mass
            v = end
    return 0.0


@kernel
def count(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    weight: Floats | None,
    posterior: Floats,
    n_labels: int,
    quads: Any,
    n_true: Floats,
    counts: Floats,
) -> float:
    """The M-step sums of a given posterior[task, true]: add to n_true[true] and counts[key, true]."""
    row, _ = _rows_for(posterior[:n_labels], len(quads))
    row[:] = 0.0
    end, ahead = np.uint64(start[last]), np.uint64(AHEAD if len(counts) > NEAR else 0)
    for t in range(np.uint64(first), np.uint64(last)):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + np.uint64(1)])
        if ahead:
            _bring(key, min(lo + ahead, end), min(hi + ahead, end), np.uint64(n_labels), counts, counts)
        for k in range(n_labels):
            row[k] = posterior[t * np.uint64(n_labels) + np.uint64(k)]
        _credit(lo, hi, key, weight, row, 1.0, np.uint64(n_labels), quads, n_true, counts)
    return 0.0


@kernel
def shares(
    first: int, last: int, start: Ints, key: Ints, weight: Floats | None, n_labels: int, posterior: Floats
) -> float:
    """Fill posterior[task, true] with the share of a task's votes that each label got; even where they weigh nothing."""
    for t in range(first, last):
        row, mass = posterior[t * n_labels : (t + 1) * n_labels], 0.0
        row[:] = 0.0
        for v in range(start[t], start[t + 1]):
            w = 1.0 if weight is None else weight[v]
            row[key[v] % np.uint32(n_labels)] += w
            mass += w
        for k in range(n_labels):
            row[k] = row[k] / mass if mass > 0.0 else 1 / n_labels
    return 0.0


# ---- parts of the above


@part
def _rows_for(log_prior: Floats, n_quads: int) -> tuple[Floats, Floats]:
    """Room for a task's row, and what the row begins with: the prior, and -inf in the cells beyond the labels."""
    n_cells = -(-len(log_prior) // (4 * n_quads)) * 4 * n_quads
    begin = np.full(n_cells, -math.inf)
    begin[: len(log_prior)] = log_prior
    return np.empty(n_cells), begin


@part
def _bring(key: Ints, lo: int, hi: int, n_labels: int, table: Floats, counts: Floats) -> None:
    """Ask for what the votes lo:hi will need."""
    for v in range(lo, hi):
        at = np.uint64(key[v]) * n_labels
        fetch(table, at)
        fetch(counts, at)
        fetch(table, at + n_labels - np.uint64(1))
        fetch(counts, at + n_labels - np.uint64(1))


@part
def _weigh(
    lo: int,
    hi: int,
    key: Ints,
    weight: Floats | None,
    begin: Floats,
    table: Floats,
    n_labels: int,
    sign: float,
    quads: Any,
    row: Floats,
) -> float:
    """row = begin + sign * what the votes lo:hi say, in logs; return its largest number."""
    best, wide = -math.inf, np.uint64(4 * len(quads))
    for k in range(np.uint64(0), np.uint64(len(row)), wide):  # up to 16 labels go round this loop once
        x = load(begin, k, quads)
        for v in range(lo, hi):
            says = load(table, np.uint64(key[v]) * n_labels + k, quads)
            x = add_scaled(x, says, sign if weight is None else sign * weight[v])
        store(row, k, x)
        best = max(best, top(x))
    return best


@part
def _credit(
    lo: int,
    hi: int,
    key: Ints,
    weight: Floats | None,
    row: Floats,
    by: float,
    n_labels: int,
    quads: Any,
    n_true: Floats,
    counts: Floats,
) -> None:
    """Add row * by to n_true, and to the counts of each of the votes lo:hi."""
    for k in range(np.uint64(0), np.uint64(len(row)), np.uint64(4 * len(quads))):
        x = scale(load(row, k, quads), by)
        store(n_true, k, add(load(n_true, k, quads), x))
        for v in range(lo, hi):
            at = np.uint64(key[v]) * n_labels + k
            old = load(counts, at, quads)
            store(counts, at, add(old, x) if weight is None else add_scaled(old, x, weight[v]))


@part
def _soften(row: Floats, best: float, quads: Any, out: Floats) -> float:
    """out = exp(row - best); return its sum."""
    mass, wide = 0.0, np.uint64(4 * len(quads))
    for k in range(np.uint64(0), np.uint64(len(row)), wide):
        x = exp(add(load(row, k, quads), -best))
        store(out, k, x)
        mass += total(x)
    return mass
