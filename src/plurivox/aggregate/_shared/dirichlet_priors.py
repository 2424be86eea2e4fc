"""Dirichlet priors and posteriors of label frequencies and confusion matrices, shared by ibcc and ebcc."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.results import Confusion
from plurivox.core.votes import Votes
from plurivox.engine.dirichlet_expected_logs import dirichlet_expected_logs_and_minus_kl
from plurivox.engine.kernels.confusion_m_step import TINY

DIAGONAL_HELP = "pseudo-count of right votes per label, in the Dirichlet prior of a confusion matrix"
OFF_DIAGONAL_HELP = "pseudo-count of votes for each wrong label, in the Dirichlet prior of a confusion matrix"


def confusion_pseudo_counts(n_labels: int, diagonal: float, off_diagonal: float) -> Floats:
    """(n_labels, n_labels) Dirichlet pseudo-counts of a confusion matrix: `diagonal` for right votes, else `off_diagonal`."""
    pseudo = np.full((n_labels, n_labels), off_diagonal)
    np.fill_diagonal(pseudo, diagonal)
    return pseudo


@dataclass(frozen=True)
class LabelPrior:
    """Prior of the label frequencies: a Dirichlet distribution with pseudo-counts, or fixed frequencies."""

    pseudo: Floats  # (n_labels,)
    fixed: Floats | None  # (n_labels,) the frequencies, if they are not learnt

    def expected_log_frequencies_and_minus_kl(self, tasks_per_label: Floats) -> tuple[Floats, float]:
        """Return ((n_labels,) E[log frequency], -KL from the prior), given the expected number of tasks of each label."""
        if self.fixed is None:
            return dirichlet_expected_logs_and_minus_kl(tasks_per_label, self.pseudo[:, None])
        return np.log(np.maximum(self.fixed, TINY)), 0.0

    def mean_label_frequencies(self, tasks_per_label: Floats) -> Floats:
        """(n_labels,) the posterior mean of the label frequencies, given the expected number of tasks of each label."""
        return (
            (self.pseudo + tasks_per_label) / (self.pseudo + tasks_per_label).sum()
            if self.fixed is None
            else self.fixed
        )


def worker_accuracy_means(dirichlet_params: Floats, label_subtype_frequencies: Floats) -> Floats:
    """(n_workers,) posterior mean of each worker's accuracy on a task drawn from the label frequencies.

    `dirichlet_params` is (n_workers, n_said, n_kinds); a kind is a subtype of a label, kinds are sorted by label, and
    `label_subtype_frequencies` is (n_kinds,).
    """
    kind = np.arange(len(label_subtype_frequencies))
    said = kind // (len(label_subtype_frequencies) // dirichlet_params.shape[1])
    return np.asarray(dirichlet_params[:, said, kind] / dirichlet_params.sum(1) @ label_subtype_frequencies)


def posterior_mean_confusion(dirichlet_params: Floats, label_subtype_frequencies: Floats, votes: Votes) -> Confusion:
    """Return each worker's posterior mean confusion matrix, averaged over the subtypes of a label by their frequencies."""
    n_workers, n_labels, n_kinds = dirichlet_params.shape
    by_label = label_subtype_frequencies.reshape(n_labels, -1)
    rows = dirichlet_params / dirichlet_params.sum(1, keepdims=True)
    rows *= (by_label / np.maximum(by_label.sum(1, keepdims=True), TINY)).ravel()
    matrices = rows.reshape(n_workers, n_labels, n_labels, n_kinds // n_labels).sum(3)
    return Confusion(np.ascontiguousarray(matrices.transpose(0, 2, 1)), votes.workers, votes.labels)
