"""Target `repeated-labelling`: one training example per answer."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.array_types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.target_base_classes import VoteTarget, votes_on_tasks_with_label_codes
from plurivox.train.targets._shared.training_examples import EveryVoteExamples


@dataclass(frozen=True)
class RepeatedLabelling(VoteTarget):
    """One training example per answer, so that an epoch uses every vote once: repeated labelling.

    Called `every-vote` before version 0.2.

    Sheng et al. (2008), https://doi.org/10.1145/1401890.1401965
    """

    former_names: ClassVar[tuple[str, ...]] = ("every-vote",)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        return EveryVoteExamples(votes_on_tasks_with_label_codes(supervision, tasks, labels), device)
