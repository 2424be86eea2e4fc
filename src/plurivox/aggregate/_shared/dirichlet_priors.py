"""What the models share whose parameters are Dirichlet distributions."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.results import Confusion
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.beta_intervals import beta_interval_from_moments
from plurivox.engine.dirichlet import expected_logs
from plurivox.engine.kernels.confusion_tables import TINY

DIAGONAL_HELP = "right votes on each label that a worker is taken to have given before"
OFF_DIAGONAL_HELP = "votes for each wrong label, likewise"


def pseudo_counts(n_labels: int, diagonal: float, off_diagonal: float) -> Floats:
    """(said, true) what is added to the counts of every worker."""
    pseudo = np.full((n_labels, n_labels), off_diagonal)
    np.fill_diagonal(pseudo, diagonal)
    return pseudo


@dataclass(frozen=True)
class LabelPrior:
    """How frequent labels are: a Dirichlet distribution with pseudo-counts, or fixed."""

    pseudo: Floats  # (n_labels,)
    fixed: Floats | None  # (n_labels,) the shares, where they are not learnt

    def expect(self, n_true: Floats) -> tuple[Floats, float]:
        """(E[log share] of each label, -KL from the prior) when there are n_true tasks of each label."""
        if self.fixed is None:
            return expected_logs(n_true, self.pseudo[:, None])
        return np.log(np.maximum(self.fixed, TINY)), 0.0

    def mean(self, n_true: Floats) -> Floats:
        """(n_labels,) the shares on average."""
        return (self.pseudo + n_true) / (self.pseudo + n_true).sum() if self.fixed is None else self.fixed


def accuracies(posterior: Floats, kinds: Floats) -> tuple[Floats, Floats, Floats]:
    """(mean, low, high), each (n_workers,): the chance that a vote is right, and its 95% credible interval.

    `posterior` (n_workers, n_said, n_kinds) holds Dirichlet parameters; kinds stand in the order of their labels and are
    as frequent as `kinds` (n_kinds,) says. The chance is a weighted mean of independent Beta variables; the interval is
    that of the Beta distribution with the same mean and variance.
    """
    kind = np.arange(len(kinds))
    whole = posterior.sum(1)
    right = posterior[:, kind // (len(kinds) // posterior.shape[1]), kind] / whole
    mean = right @ kinds
    low, high = beta_interval_from_moments(mean, (right * (1 - right) / (whole + 1)) @ kinds**2)
    return mean, low, high


def mean_confusion(posterior: Floats, kinds: Floats, votes: Votes) -> Confusion:
    """What each worker says of each true label on average; the kinds of a label count as they are frequent."""
    n_workers, n_labels, n_kinds = posterior.shape
    by_label = kinds.reshape(n_labels, -1)
    rows = posterior / posterior.sum(1, keepdims=True)
    rows *= (by_label / np.maximum(by_label.sum(1, keepdims=True), TINY)).ravel()
    matrices = rows.reshape(n_workers, n_labels, n_labels, n_kinds // n_labels).sum(3)
    return Confusion(np.ascontiguousarray(matrices.transpose(0, 2, 1)), votes.workers, votes.labels)
