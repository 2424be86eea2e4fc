"""Dawid-Skene in plain numpy: a dense, slow reference for several tests."""

import numpy as np

from plurivox.core.votes import Votes


def posterior_of(votes: Votes, log_prior: np.ndarray, matrices: np.ndarray) -> tuple[np.ndarray, float]:
    """Return ((n_tasks, n_labels) posterior, log-likelihood) under matrices [worker, true, said]."""
    log = np.repeat(log_prior[None], votes.n_tasks, 0)
    says = np.log(np.maximum(matrices, 1e-300))[votes.worker, :, votes.label]  # (n_rows, true)
    np.add.at(log, votes.task, votes.weights[:, None] * says)
    top = log.max(1, keepdims=True)
    mass = np.exp(log - top)
    return mass / mass.sum(1, keepdims=True), float((top[:, 0] + np.log(mass.sum(1))).sum())


def matrices_of(votes: Votes, posterior: np.ndarray, pseudo: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return (prior, matrices [worker, true, said]) that maximise the likelihood; `pseudo` [true, said] is added."""
    counts = np.zeros((votes.n_workers, votes.n_labels, votes.n_labels))
    np.add.at(counts, (votes.worker, slice(None), votes.label), votes.weights[:, None] * posterior[votes.task])
    counts += pseudo
    total = counts.sum(2, keepdims=True)
    even = 1 / votes.n_labels
    return posterior.mean(0), np.where(total > 1e-300, counts / np.where(total > 1e-300, total, 1), even)


def plain_dawid_skene(votes: Votes, passes: int, pseudo: np.ndarray | float = 0.0) -> dict[str, np.ndarray]:
    """Return the result of EM from vote shares after `passes` passes; every task must have a vote."""
    pseudo = np.broadcast_to(pseudo, (votes.n_labels, votes.n_labels))
    posterior = votes.counts() / votes.support[:, None]
    trace = []
    for _ in range(passes):
        prior, matrices = matrices_of(votes, posterior, pseudo)
        posterior, value = posterior_of(votes, np.log(np.maximum(prior, 1e-300)), matrices)
        trace.append(value + float((pseudo * np.log(np.maximum(matrices, 1e-300))).sum()))
    return {"posterior": posterior, "prior": prior, "matrices": matrices, "trace": np.array(trace)}
