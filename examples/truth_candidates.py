"""Candidates for the default for truth that are not aggregators: variants of Dawid-Skene in plain numpy, and ways to pool."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from plurivox.core.votes import Votes

Table = NDArray[np.float64]
LEAST = 1e-30  # probabilities below this are raised to it before their logarithm is taken


def normalise(log: Table) -> Table:
    """Return exp(log), each row divided by its sum."""
    prob = np.exp(log - log.max(1, keepdims=True))
    return np.asarray(prob / prob.sum(1, keepdims=True))


def pool(parts: list[Table], weights: list[float], power: float, background: float | Table) -> Table:
    """Return the geometric mean of posteriors to a power, mixed with the uniform distribution; background: one, or per task."""
    log = sum(w * np.log(np.maximum(part, LEAST)) for w, part in zip(weights, parts, strict=True)) / sum(weights)
    return (1 - background) * normalise(power * np.asarray(log)) + background / parts[0].shape[1]


class Model(NamedTuple):
    """Dawid-Skene in plain numpy, at the end of EM: log-likelihoods of votes and tasks, log prior, votes per task."""

    per_vote: Table  # (n_votes, n_labels) log p(said | true label) under the worker's matrix
    per_task: Table  # (n_tasks, n_labels) their sum
    prior: Table  # (n_labels,) log of the label frequencies
    n_votes: Table  # (n_tasks, 1)

    def posterior(self, power: float = 1.0, correlation: float = 0.0, background: float = 0.0) -> Table:
        """Return the posterior with a power of the likelihood, which falls with the votes if they are correlated.

        n votes with the correlation r count as n / (1 + (n - 1) r) independent ones (the design effect of Kish).
        """
        tempered = power / (1 + correlation * np.maximum(self.n_votes - 1, 0))
        return (1 - background) * normalise(tempered * self.per_task + self.prior) + background / len(self.prior)

    def power_by_held_out_votes(self, votes: Votes, powers: list[float]) -> float:
        """Return the power at which the posterior without a vote predicts this vote best; 1 if no task has two votes."""
        if (self.n_votes < 2).all():
            return 1.0
        task = votes.task[self.n_votes[votes.task, 0] > 1]
        own = self.per_vote[self.n_votes[votes.task, 0] > 1]
        rest = self.per_task[task] - own + self.prior
        return max(powers, key=lambda power: float(np.log((normalise(power * rest) * np.exp(own)).sum(1)).mean()))


def dawid_skene(
    votes: Votes, pooling: float = 4.0, em_power: float = 1.0, hard: float = 0.0, passes: int = 100
) -> Model:
    """Fit Dawid-Skene with a prior pooled over workers; `em_power` flattens every E-step, `hard` is the share of hard tasks.

    The votes on hard tasks follow the shares of all votes; they do not count in the matrices.
    """
    t, w, said, k = votes.task, votes.worker, votes.label, votes.n_labels
    counts, n_tasks = votes.counts(), votes.n_tasks
    posterior = (counts + 1e-9) / (counts + 1e-9).sum(1, keepdims=True)
    crowd = counts @ np.log(np.maximum(counts.sum(0) / counts.sum(), 1e-12))
    easy = np.ones(n_tasks)
    for _ in range(passes):
        table = np.zeros((votes.n_workers, k, k))
        np.add.at(table.transpose(0, 2, 1), (w, said), posterior[t] * easy[t, None])
        pooled = table.sum(0) + 0.01
        table += pooling * pooled / pooled.sum(1, keepdims=True) + 0.01
        per_vote = np.log(table / table.sum(2, keepdims=True))[w, :, said]
        prior = np.log((posterior.sum(0) + 1) / (n_tasks + k))
        per_task = np.stack([np.bincount(t, column, n_tasks) for column in per_vote.T], 1)
        joint = em_power * per_task + prior
        before, posterior = posterior, normalise(joint)
        if hard:
            odds = np.logaddexp.reduce(joint, 1) - em_power * crowd + np.log((1 - hard) / hard)
            easy = 1 / (1 + np.exp(-np.clip(odds, -50, 50)))
        if np.abs(posterior - before).max() < 1e-4:
            break
    return Model(per_vote, per_task, prior, counts.sum(1, keepdims=True))
