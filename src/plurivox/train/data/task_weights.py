"""How much a task counts: the agreement of those who answered it."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.encoding import positions
from plurivox.core.types import Floats, Names
from plurivox.core.votes import Votes


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
    """(n_tasks,) the share of pairs of answers to a task that agree; 1 where nobody could disagree.

    Used as weights of tasks, or to leave out those below some value: Uma et al. (2021), section 4,
    https://doi.org/10.1613/jair.1.12752

    >>> agreement(Votes.of(["a", "a", "a", "b"], [1, 2, 3, 1], ["x", "x", "y", "y"]), np.array(["a", "b"]))
    array([0.33333333, 1.        ])
    """
    counts, place = votes.counts(), positions(votes.tasks, tasks)
    total = counts.sum(1)
    agree, pairs = (counts * (counts - 1)).clip(0).sum(1), total * (total - 1)
    share = np.where(pairs > 0, agree / np.where(pairs > 0, pairs, 1), 1.0)
    return np.where(place >= 0, share[place], 1.0)
