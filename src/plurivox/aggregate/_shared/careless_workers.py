"""Workers whose votes do not depend on the task."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, gammaln, logit

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.votes import Votes

FIRST_SHARE = 0.05  # of careless workers
PASSES = 5
PSEUDO_WORKERS = 10  # for the share of careless workers
PSEUDO_VOTES = 5  # for the label shares of a worker, with the shares of the crowd
BLOCK_CELLS = 2**19  # rows of votes x labels in memory at once


def careless_workers(votes: Votes, weight: Floats, crowd: Floats) -> Bools:
    """(n_workers,) whether the votes of each worker are more probable if they do not depend on the task.

    `weight` (n_rows,) are the weights of the rows, `crowd` (n_labels,) the shares m of all votes. With s_w the label shares of
    worker w, smoothed, a careless worker draws labels from s_w. Another one draws label k with a probability proportional to
    s_wk p_k / m_k, where p_k = (n_k + A m_k) / (n + A) predicts a vote from those of the others who are not careless, and A is
    learnt. Someone who uses a label often but where others use it, too, is not careless. The share of careless workers is
    estimated by EM.

    >>> said = {"task": [*range(20)] * 4, "worker": np.repeat(["ann", "bo", "cy", "dan"], 20)}
    >>> votes = Votes.of(**said, label=[*[0, 1] * 10] * 3 + [0, 0, 1, 1] * 5)
    >>> careless_workers(votes, votes.weights, np.array([0.5, 0.5]))
    array([False, False, False,  True])
    """
    careless, share = np.zeros(votes.n_workers, bool), FIRST_SHARE
    named = (votes.worker >= 0) & (weight > 0)
    if not named.any():
        return careless
    pair = votes.worker[named].astype(np.int64) * votes.n_labels + votes.label[named]
    own = np.bincount(pair, weight[named], minlength=votes.n_workers * votes.n_labels)
    own = own.reshape(votes.n_workers, votes.n_labels)
    own = (own + PSEUDO_VOTES * crowd) / (own.sum(1, keepdims=True) + PSEUDO_VOTES)
    for _ in range(PASSES):
        kept = np.where(named & careless[votes.worker], 0.0, weight)
        cell = votes.task.astype(np.int64) * votes.n_labels + votes.label
        flat: Floats = np.bincount(cell, kept, minlength=votes.n_tasks * votes.n_labels).astype(np.float64, copy=False)
        counts = flat.reshape(votes.n_tasks, votes.n_labels)
        gain = _gain_per_worker(votes, np.where(named, weight, 0), kept, counts, own, crowd)
        posterior = expit(logit(share) - gain)
        share = float((posterior.sum() + PSEUDO_WORKERS * FIRST_SHARE) / (votes.n_workers + PSEUDO_WORKERS))
        if ((posterior > 0.5) == careless).all():
            break
        careless = posterior > 0.5
    return careless


def _gain_per_worker(votes: Votes, weight: Floats, kept: Floats, counts: Floats, own: Floats, crowd: Floats) -> Floats:
    """(n_workers,) the log-likelihood of each worker's votes given the others' votes, minus that given the worker alone."""
    total = counts.sum(1)
    added = learn_concentration(*_voted_cells(counts), total, crowd)
    gain, tilt = np.zeros(votes.n_workers), own / crowd
    size = max(1, BLOCK_CELLS // votes.n_labels)
    for first in range(0, len(votes), size):
        row = slice(first, first + size)
        task, worker, label = votes.task[row], votes.worker[row], votes.label[row]
        one = np.minimum(kept[row], 1)
        others = np.maximum(counts[task, label] - one, 0)
        # sums over labels of s_l (n_l + A m_l) / m_l, without the vote itself; the common divisor n + A cancels
        tilted = np.einsum("ij,ij->i", counts[task], tilt[worker]) + added
        tilted = np.maximum(tilted - one * tilt[worker, label], added)
        log_ratio = np.log((others + added * crowd[label]) / crowd[label]) - np.log(tilted)
        gain += np.bincount(np.maximum(worker, 0), weight[row] * log_ratio, minlength=len(gain))
    return gain


def _voted_cells(counts: Floats) -> tuple[Ints, Floats]:
    """Return the label and the number of votes of every task and label with votes."""
    task, label = np.nonzero(counts)
    return label, counts[task, label]


def learn_concentration(label: Ints, votes_for_it: Floats, support: Floats, mean: Floats) -> float:
    """Return the concentration A of maximum marginal likelihood of counts drawn from Dirichlet(A mean), between .001 and 1,000.

    The counts are `votes_for_it` votes for `label` of a task, for the tasks and labels with votes; `support` are the votes of
    each task. A weak log-normal prior around 1 keeps A if the counts do not inform it: one vote per task.
    """
    value, code = np.unique(votes_for_it, return_inverse=True)
    times = np.bincount(label.astype(np.int64) * len(value) + code)  # per label and distinct number of votes
    pair = np.flatnonzero(times)
    own, n, times = mean[pair // max(len(value), 1)], value[pair % max(len(value), 1)], times[pair]
    total, n_tasks = np.unique(support[support > 0], return_counts=True)

    def loss(log_a: float) -> float:
        a = np.exp(log_a)
        cells = times @ (gammaln(a * own + n) - gammaln(a * own))
        return float(n_tasks @ (gammaln(a + total) - gammaln(a)) - cells + log_a**2 / 2)

    return float(np.exp(minimize_scalar(loss, bounds=(np.log(1e-3), np.log(1e3)), method="bounded").x))
