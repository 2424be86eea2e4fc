"""All votes of a task with those who cast them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from plurivox.core.method import option
from plurivox.core.types import Names
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Examples, Gives, Supervision
from plurivox.train.targets._shared.examples import AllVotesExamples
from plurivox.train.targets._shared.target_bases import Voted, votes_on


@dataclass(frozen=True)
class AllVotes(Voted):
    """All votes of a task with their workers, for heads that learn from people."""

    gives: ClassVar[Gives] = "votes"

    most: int | None = option(None, "at most so many votes of a task, drawn by lot once; none: all", low=1)
    seed: int = option(0, "the lot", low=0)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        votes = votes_on(known, tasks, labels).require_workers(f"the target {self.name()}")
        return AllVotesExamples(votes if self.most is None else self._some(votes, self.most), device)

    def _some(self, votes: Votes, most: int) -> Votes:
        """At most so many rows of every task."""
        order = np.lexsort((np.random.default_rng(self.seed).random(len(votes)), votes.task))  # by lot within a task
        rank = np.empty(len(votes), np.int64)
        rank[order] = np.arange(len(votes)) - votes.start[votes.task]
        return votes.where(rank < most)
