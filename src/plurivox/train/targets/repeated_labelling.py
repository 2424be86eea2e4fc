"""Every answer as an example of its own."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.examples import EveryVoteExamples
from plurivox.train.targets._shared.target_bases import Voted, votes_on


@dataclass(frozen=True)
class RepeatedLabelling(Voted):
    """Every answer is an example of its own, so that an epoch goes over the votes: repeated labelling.

    Sheng et al. (2008), https://doi.org/10.1145/1401890.1401965
    """

    former_names: ClassVar[tuple[str, ...]] = ("every-vote",)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        return EveryVoteExamples(votes_on(known, tasks, labels), device)
