"""How much a task counts: the agreement of those who answered it."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes
from plurivox.engine.pair_agreement import pair_agreement


@dataclass(frozen=True)
class AgreementWeighting:
    """Weigh tasks by the agreement of their votes, or leave out those below a least agreement, or both."""

    weigh: bool = True
    least: float = 0.0

    def weights(self, votes: Votes, tasks: Names) -> Floats:
        """(n_tasks,) the weight of each task; 0 leaves it out."""
        share = agreement(votes, tasks)
        kept = (share >= self.least).astype(np.float64)
        return kept * share if self.weigh else kept


def agreement(votes: Votes, tasks: Names) -> Floats:
    """(n_tasks,) the share of pairs of answers to each of `tasks` that agree; 1 where there are no two answers.

    Used as weights of tasks, or to leave out those below some value: Uma et al. (2021), section 4,
    https://doi.org/10.1613/jair.1.12752

    >>> agreement(Votes.of(["a", "a", "a", "b"], [1, 2, 3, 1], ["x", "x", "y", "y"]), np.array(["a", "b"]))
    array([0.33333333, 1.        ])
    """
    share, place = np.clip(pair_agreement(votes), 0, 1), positions(votes.tasks, tasks)
    return np.where((place >= 0) & ~np.isnan(share[place]), share[place], 1.0)
