"""Zero-based skill: workers' skills drawn step by step towards their agreement with the weighted vote."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_counts import prior
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes

CHANCE = 1e-5  # how far above chance every skill starts
STILL = 1e-12  # skills that move less than this stand still for good


@dataclass(frozen=True)
class ZeroBasedSkill(Aggregator):
    """Weighted vote shares whose weights move step by step towards each worker's agreement with them.

    Every skill starts at s_j = 1/K. Each round takes the majority vote in which worker j weighs s_j, and moves
    s_j <- s_j + r (a_j - s_j), a step down the squared error to a_j, the share of worker j's votes that named the winner
    of their task. The rate r is multiplied by `factor` every `steps` rounds. It stops early when no skill moves.

    p(k | task) = sum of s_j over the votes j for k / sum of s_j over all votes of the task. Ties go to the first label.
    The ability is s_j; who never voted has none (nan).

    The method is that of crowd-kit, https://doi.org/10.21105/joss.06227

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> ZeroBasedSkill().fit(votes).soft.prob
    array([[0.75, 0.25],
           [0.25, 0.75]])
    """

    max_iter: int = option(100, "rounds at most", low=1)
    rate: float = option(1.0, "how far a skill moves towards the agreement at first", low=0, high=1)
    steps: int = option(20, "rounds between two cuts of the rate", low=1)
    factor: float = option(0.5, "what the rate is multiplied by at a cut", low=0, high=1)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        ballots = WeightedVotes.of(votes)
        found = {"ties": ballots.ties(ballots.split(ballots.counts))}
        skill, rate = np.full(votes.n_workers, 1 / votes.n_labels + CHANCE), self.rate
        converged = False
        for step in range(self.max_iter):
            rate *= self.factor if (step + 1) % self.steps == 0 else 1
            winner = ballots.winners(ballots.split(ballots.sums(skill)))
            move = rate * (ballots.agreement(winner) - skill)
            skill = skill + move
            moved = float(np.nanmax(np.abs(move), initial=0))
            progress(step, self.max_iter, moved)
            if converged := moved <= STILL:
                break
        found["rounds"] = step + 1
        soft = ballots.soft(ballots.split(ballots.sums(skill)))
        return Fit(soft, votes.workers, self.spec, prior(votes), ability=skill, converged=converged, found=found)
