"""Votes whose known tasks stay in the passes: their label is held, what else there is to find of them is not."""

import numpy as np

from plurivox.aggregate._confusion import earlier_params, first_guess
from plurivox.aggregate._crowd import Crowd
from plurivox.core.labels import SoftLabels
from plurivox.core.names import Bools, Floats, positions
from plurivox.core.results import Fit
from plurivox.core.votes import Votes


class Told:
    """The tasks that have votes, in CSR order, and what is known of their labels before any pass."""

    held: Bools | None  # (n_open,) whose label is known; None: nobody's
    posterior: Floats  # (n_open, n_labels) what is known; of the others, a first guess

    def __init__(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        self.votes, self.crowd = votes, Crowd(votes)
        self.known = None if gold is None else gold.shared(votes.tasks).on_labels(votes.labels)
        self.posterior, self.held = self._guess(start), None
        if self.known is not None and len(self.known):
            place = positions(self.known.tasks, votes.tasks[self.crowd.open])
            self.held = place >= 0
            self.posterior[self.held] = self.known.prob[place[self.held]]

    def _guess(self, start: Fit | None) -> Floats:
        params = earlier_params(self.crowd, start)
        if params is None:
            return first_guess(self.crowd, start)
        return self.crowd.believe(params)[0][self.crowd.open]

    def n_unvoted(self) -> Floats:
        """(n_labels,) how many known tasks without a vote have each label."""
        if self.known is None:
            return np.zeros(self.votes.n_labels)
        bare = self.votes.support[positions(self.votes.tasks, self.known.tasks)] == 0
        return self.known.prob[bare].sum(0)

    def whole(self, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the posterior of every task: known ones as known, those without a vote at the prior."""
        full = self.crowd.whole(self.posterior, prior)
        if self.known is not None:
            full[positions(self.votes.tasks, self.known.tasks)] = self.known.prob
        return full
