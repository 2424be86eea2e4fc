"""Helper: small artificial training data with inputs, gold labels and votes."""

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


def toy_data(n: int = 60, n_labels: int = 3, seed: int = 0) -> tuple[np.ndarray, SoftLabels, Votes]:
    """Return (x, gold, votes) of the tasks 0, 1, ..., n - 1; x depends on the label.

    Four workers are right in 4 of 5 votes. Row i of x is task i, so that x needs no names.
    """
    rng = np.random.default_rng(seed)
    true = rng.integers(0, n_labels, n)
    x = (np.eye(n_labels)[true] + 0.3 * rng.normal(size=(n, n_labels))).astype(np.float32)
    task = np.repeat(np.arange(n), 4)
    given = np.where(rng.random(4 * n) < 0.8, true[task], rng.integers(0, n_labels, 4 * n))
    names = np.array([f"label{k}" for k in range(n_labels)])
    workers = np.tile([f"w{i}" for i in range(4)], n)
    votes = Votes.of(task, workers, names[given], labels=names)
    return x, SoftLabels.gold(range(n), names[true], names), votes


def toy_data_with_spammers(n: int = 200, seed: int = 0) -> tuple[np.ndarray, SoftLabels, Votes]:
    """Return (x, gold, votes) of four workers, w0 to w3, who are right, and six spammers.

    Spammers mostly give the first label. Each task has five votes, so that the majority is often wrong.
    """
    rng = np.random.default_rng(seed)
    true, n_labels = rng.integers(0, 4, n), 4
    x = (np.eye(n_labels)[true] + 0.35 * rng.normal(size=(n, n_labels))).astype(np.float32)
    worker = np.concatenate([rng.permutation(10)[:5] for _ in range(n)])
    task = np.repeat(np.arange(n), 5)
    given = np.where(worker < 4, true[task], rng.integers(0, n_labels, 5 * n) * (rng.random(5 * n) < 0.4))
    names = np.array([f"label{k}" for k in range(n_labels)])
    votes = Votes.of(task, np.array([f"w{i}" for i in range(10)])[worker], names[given], labels=names)
    return x, SoftLabels.gold(range(n), names[true], names), votes
