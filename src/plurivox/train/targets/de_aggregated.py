"""Target `de-aggregated`: the answer of one random worker per task and epoch."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.array_types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.target_base_classes import VoteTarget, votes_on_tasks_with_label_codes
from plurivox.train.targets._shared.training_examples import OneVoteExamples


@dataclass(frozen=True)
class DeAggregated(VoteTarget):
    """The answer of one random worker of the task, drawn again in every epoch: de-aggregated training.

    A soft answer is used whole. All workers of a task are equally likely, so that the expected target is the vote share.
    Called `one-answer` before version 0.2.

    Collins et al. (2022), section 5.2, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    former_names: ClassVar[tuple[str, ...]] = ("one-answer",)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        return OneVoteExamples(votes_on_tasks_with_label_codes(supervision, tasks, labels), device)
