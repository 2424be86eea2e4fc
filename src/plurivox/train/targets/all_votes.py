"""Target `all-votes`: all votes of a task with their workers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch

from plurivox.core.array_types import Names
from plurivox.core.method import option
from plurivox.core.votes import Votes
from plurivox.train.targets._contract import Examples, Supervision, TargetKind
from plurivox.train.targets._shared.target_base_classes import VoteTarget, votes_on_tasks_with_label_codes
from plurivox.train.targets._shared.training_examples import AllVotesExamples


@dataclass(frozen=True)
class AllVotes(VoteTarget):
    """All votes of a task with their workers, for heads that model each worker."""

    kind: ClassVar[TargetKind] = "votes"

    most: int | None = option(None, "maximum number of votes per task, drawn at random once; none: all", low=1)
    seed: int = option(0, "seed of the random choice of votes, if a task has more than the maximum", low=0)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        votes = votes_on_tasks_with_label_codes(supervision, tasks, labels).require_worker_names(
            f"the target {self.name()}"
        )
        return AllVotesExamples(votes if self.most is None else self._sample_votes_per_task(votes, self.most), device)

    def _sample_votes_per_task(self, votes: Votes, max_votes_per_task: int) -> Votes:
        """Return at most `max_votes_per_task` votes of every task, chosen at random."""
        order = np.lexsort((np.random.default_rng(self.seed).random(len(votes)), votes.task))  # random within a task
        rank = np.empty(len(votes), np.int64)
        rank[order] = np.arange(len(votes)) - votes.row_offsets_by_task[votes.task]
        return votes.where(rank < max_votes_per_task)
