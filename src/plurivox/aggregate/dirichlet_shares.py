"""Dirichlet-smoothed vote shares: the posterior mean of each task's label distribution."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared import vote_share_helpers
from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import Estimand, SoftLabels
from plurivox.core.soft_rows_dense_sparse import DENSE_CELLS, Candidates, Dense
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class DirichletShares(Aggregator):
    """Vote shares after adding pseudo-votes to every task: the mean of a Dirichlet posterior.

    p(k | task) = (n_k + a K m_k) / (n + a K), where n_k is the weight of the votes for label k, n their sum, K the number of
    labels, a the pseudo-votes per label and m the prior: uniform, which gives (n_k + a) / (n + a K), or the shares of all votes
    of the crowd. A task without votes gets m, and a support of 0.

    Gelman et al. (2013), Bayesian Data Analysis, section 3.4, https://doi.org/10.1201/b16018

    >>> votes = Votes.of(task=["a", "a", "a", "b"], worker=[1, 2, 3, 1], label=["no", "no", "yes", "yes"])
    >>> DirichletShares().fit(votes).soft.prob.round(3)
    array([[0.6  , 0.4  ],
           [0.333, 0.667]])
    """

    added: float = option(1.0, "number of pseudo-votes added to each task per label", low=0)
    prior: Literal["uniform", "crowd"] = option(
        "uniform", "distribution of the added votes: equal for all labels, or the shares of all votes"
    )

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "counts"})
    estimates: ClassVar[Estimand] = "people"

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start, progress
        even = np.full(votes.n_labels, 1 / votes.n_labels)
        mean = vote_share_helpers.overall_vote_shares(votes) if self.prior == "crowd" else even
        small = votes.n_tasks * votes.n_labels <= DENSE_CELLS
        body = self._smoothed_vote_shares_dense(votes, mean) if small else self._smoothed_vote_shares_sparse(votes)
        soft = SoftLabels(body, votes.tasks, votes.labels, votes.support, votes.scale)
        return Fit(soft, votes.workers, self.spec, prior=mean)

    def _smoothed_vote_shares_dense(self, votes: Votes, label_prior: Floats) -> Dense:
        """Return (votes + pseudo-votes) / total of each task and label as a dense table; pseudo-votes follow `label_prior`."""
        mass = votes.counts() + self.added * votes.n_labels * label_prior
        total = mass.sum(1, keepdims=True)
        return Dense(np.where(total > 0, mass / np.where(total > 0, total, 1), label_prior))

    def _smoothed_vote_shares_sparse(self, votes: Votes) -> Candidates:
        """Return vote shares smoothed by equal pseudo-votes, stored for voted labels only; raise InputError if prior=crowd."""
        if self.prior == "crowd":
            raise InputError(
                f"{votes.n_tasks} tasks x {votes.n_labels} labels are too many for prior=crowd; use prior=uniform"
            )
        tally = votes.sparse_vote_counts()
        mass, rest = tally.mass + self.added, tally.n_unlisted_labels_per_row * self.added
        total = np.bincount(tally.row_of_each_candidate, mass, minlength=votes.n_tasks) + rest
        rest = np.where(total > 0, rest / np.where(total > 0, total, 1), 1.0)
        return replace(tally, mass=mass / np.where(total > 0, total, 1)[tally.row_of_each_candidate], rest=rest)
