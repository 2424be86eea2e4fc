"""Kernels of models in which a vote is evidence for the label it names alone: MACE and one-coin Dawid-Skene.

In MACE a vote adds gain[key] = log(1 + know / guess) to its own label, where know and guess are the probabilities of naming
that label by knowing it and by guessing; what all labels of a task have in common, the guesses, is left out. In one-coin a
vote adds hit[worker] to its own label and miss[worker] to the others.
"""

import math
from typing import Any

import numpy as np

from plurivox.core.types import Floats, Ints
from plurivox.engine.jit import kernel, part
from plurivox.engine.kernels.simd import add, exp, load, scale, store, top, total
from plurivox.engine.kernels.softmax import copy, soften

FAR = 1e200  # a product of masses is turned into a sum of logs before it can overflow


@kernel
def mace_sweep(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    said: Ints,
    weight: Floats | None,
    begin: Floats,
    gain: Floats,
    quads: Any,
    n_true: Floats,
    right: Floats,
) -> float:
    """Add to n_true[true], and to right[key] the weight of votes that hit the true label; return the log likelihood.

    `begin` is the log of the prior, with -inf in the cells beyond the labels: its length is a multiple of 4 len(quads).
    """
    row, wide = np.empty(len(begin)), np.uint64(4 * len(quads))
    value, mass_so_far = 0.0, 1.0
    for t in range(first, last):
        lo, hi = np.uint64(start[t]), np.uint64(start[t + 1])
        for k in range(np.uint64(0), np.uint64(len(row)), wide):
            store(row, k, load(begin, k, quads))
        for v in range(lo, hi):
            row[said[v]] += gain[key[v]] if weight is None else weight[v] * gain[key[v]]
        best, mass = -math.inf, 0.0
        for k in range(np.uint64(0), np.uint64(len(row)), wide):  # up to 16 labels go round these loops once
            best = max(best, top(load(row, k, quads)))
        for k in range(np.uint64(0), np.uint64(len(row)), wide):
            x = exp(add(load(row, k, quads), -best))
            store(row, k, x)
            mass += total(x)
        for k in range(np.uint64(0), np.uint64(len(row)), wide):
            x = scale(load(row, k, quads), 1.0 / mass)
            store(row, k, x)
            store(n_true, k, add(load(n_true, k, quads), x))
        for v in range(lo, hi):
            right[key[v]] += row[said[v]] if weight is None else weight[v] * row[said[v]]
        value += best
        mass_so_far *= mass
        if mass_so_far > FAR:
            value += math.log(mass_so_far)
            mass_so_far = 1.0
    return value + math.log(mass_so_far)


@kernel
def mace_believe(
    first: int,
    last: int,
    start: Ints,
    key: Ints,
    said: Ints,
    weight: Floats | None,
    log_prior: Floats,
    gain: Floats,
    posterior: Floats,
    agree: Floats,
) -> float:
    """Fill posterior[task, true], and add to agree[worker] what the rest says in favour of each of its votes.

    That is weight * p(true = said | the other votes on the task): the vote itself is left out.
    """
    n_labels = len(log_prior)
    score, rest = np.empty(n_labels), np.empty(n_labels)
    for t in range(first, last):
        copy(log_prior, score)
        for v in range(start[t], start[t + 1]):
            score[said[v]] += gain[key[v]] if weight is None else weight[v] * gain[key[v]]
        copy(score, posterior[t])
        soften(posterior[t])
        lo = start[t]
        while lo < start[t + 1]:
            worker, hi = key[lo] // np.uint32(n_labels), lo
            copy(score, rest)
            while hi < start[t + 1] and key[hi] // np.uint32(n_labels) == worker:  # the rows of one answer
                rest[said[hi]] -= gain[key[hi]] if weight is None else weight[hi] * gain[key[hi]]
                hi += 1
            soften(rest)
            for v in range(lo, hi):
                agree[worker] += rest[said[v]] if weight is None else weight[v] * rest[said[v]]
            lo = hi
    return 0.0


@kernel
def one_coin_sweep(
    first: int,
    last: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    log_prior: Floats,
    hit: Floats,
    miss: Floats,
    n_true: Floats,
    right: Floats,
) -> float:
    """E-step and M-step sums in one pass: add to n_true[true] and right[worker]; return the log likelihood.

    A vote multiplies the chance of the label it names by exp(hit[worker]), that of each other one by exp(miss[worker]).
    """
    n_labels = len(log_prior)
    row = np.empty(n_labels)
    value = 0.0
    for t in range(first, last):
        copy(log_prior, row)
        value += _one_coin_weigh(start[t], start[t + 1], worker, said, weight, hit, miss, row)
        value += soften(row)
        for k in range(n_labels):
            n_true[k] += row[k]
        for v in range(start[t], start[t + 1]):
            right[worker[v]] += (1.0 if weight is None else weight[v]) * row[said[v]]
    return value


@kernel
def one_coin_believe(
    first: int,
    last: int,
    start: Ints,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    log_prior: Floats,
    hit: Floats,
    miss: Floats,
    posterior: Floats,
    agree: Floats,
) -> float:
    """Fill posterior[task, true], and add to agree[worker] what the other votes say in favour of each of its own."""
    n_labels = len(log_prior)
    row, rest = np.empty(n_labels), np.empty(n_labels)
    for t in range(first, last):
        copy(log_prior, row)
        _one_coin_weigh(start[t], start[t + 1], worker, said, weight, hit, miss, row)
        copy(row, rest)
        soften(rest)
        copy(rest, posterior[t * n_labels : (t + 1) * n_labels])
        v = start[t]
        while v < start[t + 1]:
            end = v
            while end < start[t + 1] and worker[end] == worker[v]:  # the rows of one answer, and its repeats
                end += 1
            copy(row, rest)
            for u in range(v, end):
                w = 1.0 if weight is None else weight[u]
                rest[said[u]] -= w * (hit[worker[u]] - miss[worker[u]])
            soften(rest)
            for u in range(v, end):
                agree[worker[u]] += (1.0 if weight is None else weight[u]) * rest[said[u]]
            v = end
    return 0.0


@part
def _one_coin_weigh(
    lo: int,
    hi: int,
    worker: Ints,
    said: Ints,
    weight: Floats | None,
    hit: Floats,
    miss: Floats,
    row: Floats,
) -> float:
    """Add to the row what votes say for the label they name beyond what they say for all; return the latter's sum."""
    every = 0.0
    for v in range(lo, hi):
        w = 1.0 if weight is None else weight[v]
        every += w * miss[worker[v]]
        row[said[v]] += w * (hit[worker[v]] - miss[worker[v]])
    return every
