"""Dirichlet priors and posteriors of label frequencies and confusion matrices, shared by ibcc and ebcc."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.results import Confusion
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.beta_intervals import beta_interval_from_moments
from plurivox.engine.dirichlet import expected_log_probabilities
from plurivox.engine.kernels.confusion_m_step import TINY

DIAGONAL_HELP = "pseudo-count of right votes per label, in the Dirichlet prior of a confusion matrix"
OFF_DIAGONAL_HELP = "pseudo-count of votes for each wrong label, in the Dirichlet prior of a confusion matrix"


def pseudo_counts(n_labels: int, diagonal: float, off_diagonal: float) -> Floats:
    """(said, true) the pseudo-counts that are added to the vote counts of each worker."""
    pseudo = np.full((n_labels, n_labels), off_diagonal)
    np.fill_diagonal(pseudo, diagonal)
    return pseudo


@dataclass(frozen=True)
class LabelPrior:
    """Prior of the label frequencies: a Dirichlet distribution with pseudo-counts, or fixed frequencies."""

    pseudo: Floats  # (n_labels,)
    fixed: Floats | None  # (n_labels,) the frequencies, if they are not learnt

    def expected_log_probabilities(self, n_true: Floats) -> tuple[Floats, float]:
        """Return ((n_labels,) E[log frequency], -KL from the prior), given the number of tasks `n_true` (n_labels,)."""
        if self.fixed is None:
            return expected_log_probabilities(n_true, self.pseudo[:, None])
        return np.log(np.maximum(self.fixed, TINY)), 0.0

    def mean_shares(self, n_true: Floats) -> Floats:
        """(n_labels,) the posterior mean of the label frequencies, given the number of tasks `n_true` (n_labels,)."""
        return (self.pseudo + n_true) / (self.pseudo + n_true).sum() if self.fixed is None else self.fixed


def worker_accuracies(posterior: Floats, kinds: Floats) -> tuple[Floats, Floats, Floats]:
    """(mean, low, high), each (n_workers,): the probability that a vote is right, with its 95% credible interval.

    `posterior` (n_workers, n_said, n_kinds) holds Dirichlet parameters; a kind is a subtype of a label, kinds are sorted by
    label, and `kinds` (n_kinds,) are their frequencies. The probability is a weighted mean of independent Beta variables; the
    interval is that of the Beta distribution with the same mean and variance.
    """
    kind = np.arange(len(kinds))
    whole = posterior.sum(1)
    right = posterior[:, kind // (len(kinds) // posterior.shape[1]), kind] / whole
    mean = right @ kinds
    low, high = beta_interval_from_moments(mean, (right * (1 - right) / (whole + 1)) @ kinds**2)
    return mean, low, high


def mean_confusion(posterior: Floats, kinds: Floats, votes: Votes) -> Confusion:
    """Return the posterior mean of each worker's confusion matrix; kinds of a label are averaged by their frequencies."""
    n_workers, n_labels, n_kinds = posterior.shape
    by_label = kinds.reshape(n_labels, -1)
    rows = posterior / posterior.sum(1, keepdims=True)
    rows *= (by_label / np.maximum(by_label.sum(1, keepdims=True), TINY)).ravel()
    matrices = rows.reshape(n_workers, n_labels, n_labels, n_kinds // n_labels).sum(3)
    return Confusion(np.ascontiguousarray(matrices.transpose(0, 2, 1)), votes.workers, votes.labels)
