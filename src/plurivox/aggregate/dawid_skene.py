"""Dawid-Skene: a confusion matrix for every worker, found together with the labels by EM."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.confusion_model import SETTLE, LogSpace, MatrixModel, earlier_params
from plurivox.aggregate._shared.em_options import PRIOR_HELP, TOL_HELP, check_room, fixed_prior
from plurivox.aggregate._shared.keyed_votes import Crowd
from plurivox.core.method import option
from plurivox.core.progress import Watch
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Floats
from plurivox.core.votes import Votes
from plurivox.engine.em import climb


@dataclass(frozen=True)
class DawidSkene(Aggregator):
    """A confusion matrix for every worker, found together with the labels by EM.

    p(task has k) is proportional to prior_k * product over its votes of matrix_worker[k, said] ^ weight; the matrices
    are the expected counts of what each worker said where k is true, pseudo-counts added, divided by their sums; the
    prior is the mean of the posteriors. It begins with vote shares and ends at a maximum of the likelihood (times the
    density of the pseudo-counts), which the trace shows. Pseudo-counts can be the same for all cells (`smooth`), others
    on the `diagonal`, or follow the whole crowd's matrix with the strength of `pool` votes a row; the crowd's matrix
    comes to rest in the first passes and stays. A known label stays as it is and teaches the matrices. Ability is a
    worker's accuracy on a task drawn by the prior; `found["left_out"]` is the share of its answers that the other
    votes on their tasks (or a known label) agree with, its own left out.

    Dawid & Skene (1979), https://doi.org/10.2307/2346806; pooling: Paun et al. (2018),
    https://doi.org/10.1162/tacl_a_00040

    >>> votes = Votes.of(task=list("aaabbbccc"), worker=[1, 2, 3] * 3, label=list("xxyyyxxxx"))
    >>> fit = DawidSkene().fit(votes)
    >>> fit.soft.hard().tolist(), fit.confusion.of(3).round(2)
    (['x', 'y', 'x'], array([[0.5 , 0.5 ],
           [0.99, 0.01]]))
    """

    smooth: float = option(0.01, "pseudo-count in every cell of a matrix; 0 is the method as published", low=0)
    diagonal: float | None = option(None, "pseudo-count on the diagonal; none: as everywhere", low=0)
    pool: float = option(0.0, "strength of a prior pooled over the crowd, in votes a row; 4 is a good one", low=0)
    prior: str = option("learnt", PRIOR_HELP)
    max_iter: int = option(100, "most passes over the votes", low=1)
    tol: float = option(1e-6, TOL_HELP, low=0)
    accelerate: bool = option(True, "try longer steps, and take back those that do not pay")

    takes: ClassVar[frozenset[str]] = frozenset({"soft", "gold", "start"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, watch: Watch) -> Fit:
        check_room(votes, self.name())
        crowd = Crowd(votes, gold)
        fixed = fixed_prior(self.prior, votes.labels)
        model = MatrixModel(crowd, crowd.sweep, fixed, self._pseudo(votes.n_labels))
        params = earlier_params(crowd, start) or model.maximise(crowd.count(crowd.first_guess(start)))
        spent = 0
        if self.pool:
            params, spent = model.settle(params, self.pool, min(SETTLE, self.max_iter - 1), watch, self.max_iter)
        end = climb(
            model.sweep,
            params,
            max_iter=self.max_iter,
            tol=self.tol * votes.n_answers,
            watch=watch,
            space=LogSpace(crowd) if self.accelerate else None,
            spent=spent,
        )
        return model.answer(self.word, end)

    def _pseudo(self, n_labels: int) -> Floats:
        """(said, true) the pseudo-counts."""
        pseudo = np.full((n_labels, n_labels), self.smooth)
        if self.diagonal is not None:
            np.fill_diagonal(pseudo, self.diagonal)
        return pseudo
