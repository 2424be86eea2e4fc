"""Iterative weighted majority voting."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.aggregate._contract import Aggregator
from plurivox.aggregate._shared.vote_counts import prior
from plurivox.aggregate._shared.weighted_votes import WeightedVotes
from plurivox.core.method import option
from plurivox.core.progress import Progress
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes


@dataclass(frozen=True)
class IWMV(Aggregator):
    """Majority votes repeated, each worker weighing as much as they agreed with the vote before.

    Start from a majority vote. Then, round by round, w_j is the share of worker j's votes that named the last label of
    their task, and each task takes the label whose votes weigh most: with weight w_j (`plain`), or K w_j - 1 (`li-yu`),
    which counts votes of workers worse than chance against what they say. It stops when no label changes; one round of
    `plain` is wawa. Ties go to the first label, one that somebody chose before others.

    p(k | task) is the share of the weight behind k in the last round. Sums below 0 get nothing, unless all are: then the
    lowest stands at 0 and the others that much higher, labels nobody chose included. Where that leaves nothing, plain votes
    decide. The ability is w_j; who never voted has none (nan).

    Li and Yu (2014), https://doi.org/10.48550/arXiv.1411.4086

    >>> votes = Votes.of(task=list("aaabbb"), worker=[1, 2, 3] * 2, label=["no", "no", "yes", "yes", "no", "yes"])
    >>> fit = IWMV(weights="li-yu").fit(votes)
    >>> fit.ability, fit.soft.hard().tolist(), fit.converged
    (array([1. , 0.5, 0.5]), ['no', 'yes'], True)
    """

    weights: Literal["plain", "li-yu"] = option("plain", "a worker's weight: their agreement w, or K w - 1")
    max_iter: int = option(10, "rounds at most", low=1)

    takes: ClassVar[frozenset[str]] = frozenset({"soft"})

    def _fit(self, votes: Votes, gold: SoftLabels | None, start: Fit | None, progress: Progress) -> Fit:
        del gold, start
        ballots = WeightedVotes.of(votes)
        split = ballots.split(ballots.counts)
        found, label = {"ties": ballots.ties(split)}, ballots.winners(split)
        converged = False
        for step in range(self.max_iter):
            ability = ballots.agreement(label)
            weight = ability if self.weights == "plain" else votes.n_labels * ability - 1
            split = ballots.split(ballots.sums(weight))
            last, label = label, ballots.winners(split)
            changed = int((last != label).sum())
            progress(step, self.max_iter, changed)
            if converged := changed == 0:
                break
        found["rounds"] = step + 1
        soft = ballots.soft(split)
        return Fit(soft, votes.workers, self.spec, prior(votes), ability=ability, converged=converged, found=found)
