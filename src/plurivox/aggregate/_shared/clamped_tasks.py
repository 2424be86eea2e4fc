"""Tasks whose gold labels are clamped while their difficulty or subtype is still estimated."""

import numpy as np

from plurivox.aggregate._shared.em_aggregator import OpenTasks, known_labels
from plurivox.core.encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats
from plurivox.core.votes import Votes


class ClampedTasks(OpenTasks):
    """All tasks that have votes; the posterior of those with a gold label is clamped to it."""

    clamped: Bools  # (n_open,) whose label is known
    posterior: Floats  # (n_open, n_labels) the known label, or a first guess

    def __init__(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        super().__init__(votes)
        self.known, self.known_place = known_labels(votes, gold)
        self.posterior, self.clamped = self._first_posterior(start), np.zeros(len(self.open), bool)
        silent = np.diff(votes.start)[self.known_place] == 0
        self.n_silent = np.zeros(votes.n_labels)  # (n_labels,) how many known tasks without a vote have each label
        if self.known is not None and len(self.known):
            place = positions(self.known.tasks, votes.tasks[self.open])
            self.clamped = place >= 0
            self.posterior[self.clamped] = self.known.prob[place[self.clamped]]
            self.n_silent += self.known.prob[silent].sum(0)

    def _first_posterior(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) the posterior under an earlier fit's matrices; else that of the fit; else vote shares."""
        if start is not None and start.confusion is not None:
            em = self.confusion_em()
            if (params := self.earlier_params(em, start)) is not None:
                return em.e_step(params)[0]
        return self.first_posterior(start)

    def whole_posterior(self, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the posterior of every task: known ones as known, those without a vote at the prior."""
        full = self.whole(self.posterior, prior)
        if self.known is not None:
            full[self.known_place] = self.known.prob
        return full
