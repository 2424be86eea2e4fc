"""One person's answer at a time."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.examples import OneVoteExamples
from plurivox.train.targets._shared.target_bases import Voted, votes_on


@dataclass(frozen=True)
class DeAggregated(Voted):
    """One person's answer, drawn anew in every epoch: de-aggregated training.

    A soft answer is taught whole. Everybody who answered is equally likely, so that in the mean it is the vote share.

    Collins et al. (2022), section 5.2, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    former_names: ClassVar[tuple[str, ...]] = ("one-answer",)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        return OneVoteExamples(votes_on(known, tasks, labels), device)
