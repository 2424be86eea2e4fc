"""Tasks whose known labels are held while what else there is to find of them is found."""

import numpy as np

from plurivox.aggregate._shared.confusion_model import earlier_params
from plurivox.aggregate._shared.keyed_votes import Crowd
from plurivox.aggregate._shared.unlabelled_tasks import OpenTasks
from plurivox.core.encoding import positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.types import Bools, Floats
from plurivox.core.votes import Votes


class Told(OpenTasks):
    """All tasks that have votes; of some the label is told, but not their difficulty or their kind."""

    held: Bools  # (n_open,) whose label is known
    posterior: Floats  # (n_open, n_labels) what is known; of the others, a first guess

    def __init__(self, votes: Votes, gold: SoftLabels | None, start: Fit | None) -> None:
        super().__init__(votes)
        known = OpenTasks(votes, gold)
        self.told, self.told_place = known.gold, known.gold_place
        self.posterior, self.held = self._guess(start), np.zeros(len(self.open), bool)
        silent = np.diff(votes.start)[self.told_place] == 0
        self.n_silent = np.zeros(votes.n_labels)  # (n_labels,) how many known tasks without a vote have each label
        if self.told is not None and len(self.told):
            place = positions(self.told.tasks, votes.tasks[self.open])
            self.held = place >= 0
            self.posterior[self.held] = self.told.prob[place[self.held]]
            self.n_silent += self.told.prob[silent].sum(0)

    def _guess(self, start: Fit | None) -> Floats:
        """(n_open, n_labels) what an earlier fit's matrices say of each task; else what it believed; else vote shares."""
        if start is not None and start.confusion is not None:
            crowd = Crowd(self.votes)
            if (params := earlier_params(crowd, start)) is not None:
                return crowd.believe(params)[0][self.open]
        return self.first_guess(start)

    def answers(self, prior: Floats) -> Floats:
        """(n_tasks, n_labels) the posterior of every task: known ones as known, those without a vote at the prior."""
        full = self.whole(self.posterior, prior)
        if self.told is not None:
            full[self.told_place] = self.told.prob
        return full
