"""What the models share whose parameters are Dirichlet distributions."""

from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv

from plurivox.aggregate._latent import fixed_prior
from plurivox.core.names import Floats
from plurivox.core.results import Confusion
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet import expected_logs


def diagonal_prior(n_labels: int, diagonal: float, off_diagonal: float) -> Floats:
    """(n_labels, n_labels) pseudo-counts of a confusion matrix, [said, true]."""
    return np.full((n_labels, n_labels), off_diagonal) + (diagonal - off_diagonal) * np.eye(n_labels)


@dataclass(frozen=True)
class LabelPrior:
    """How frequent labels are: a Dirichlet distribution with pseudo-counts, or fixed."""

    pseudo: Floats  # (n_labels,)
    fixed: Floats | None  # (n_labels,) shares

    @classmethod
    def of(cls, told: str, votes: Votes, pseudo: Floats) -> "LabelPrior":
        return cls(pseudo, fixed_prior(told, votes))

    def expect(self, n_true: Floats) -> tuple[Floats, float]:
        """(E[log share] of each label, -KL from the prior) once `n_true` tasks of each label were seen."""
        if self.fixed is None:
            return expected_logs(n_true, self.pseudo[:, None])
        return np.log(np.maximum(self.fixed, 1e-300)), 0.0

    def mean(self, n_true: Floats) -> Floats:
        """(n_labels,) the shares on average."""
        return (self.pseudo + n_true) / (self.pseudo + n_true).sum() if self.fixed is None else self.fixed


def accuracies(posterior: Floats, kinds: Floats) -> tuple[Floats, Floats, Floats]:
    """(mean, low, high), each (n_workers,): the chance that a vote is right and its 95% credible interval.

    `posterior` (n_workers, n_said, n_kinds) holds Dirichlet parameters, kinds standing in the order of their labels, and
    `kinds` (n_kinds,) how frequent they are. The chance is a mean of independent Beta variables; the interval is that of
    the Beta distribution with the same mean and variance.
    """
    n_labels = posterior.shape[1]
    label = np.arange(len(kinds)) // (len(kinds) // n_labels)
    whole = posterior.sum(1)
    right = posterior[:, label, np.arange(len(kinds))] / whole
    mean = right @ kinds
    variance = (right * (1 - right) / (whole + 1)) @ kinds**2
    sure = variance <= 0
    size = mean * (1 - mean) / np.where(sure, 1, variance) - 1
    low, high = (betaincinv(mean * size, (1 - mean) * size, q) for q in (0.025, 0.975))
    return mean, np.where(sure, mean, low), np.where(sure, mean, high)


def mean_confusion(posterior: Floats, kinds: Floats, votes: Votes) -> Confusion:
    """What each worker says of each true label on average; the kinds of a label count as they are frequent."""
    n_workers, n_labels, n_kinds = posterior.shape
    share = kinds.reshape(n_labels, -1) / kinds.reshape(n_labels, -1).sum(1, keepdims=True)
    rows = posterior / posterior.sum(1, keepdims=True) * share.ravel()
    matrices = rows.reshape(n_workers, n_labels, n_labels, n_kinds // n_labels).sum(3)
    return Confusion(matrices.swapaxes(1, 2), votes.workers, votes.labels)
