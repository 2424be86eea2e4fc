"""All votes of a task with those who cast them."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.errors import InputError
from plurivox.core.names import Names
from plurivox.train.targets._contract import Gives, Known, Lessons
from plurivox.train.targets._lessons import AllOfThem
from plurivox.train.targets._voted import Voted, votes_on


@dataclass(frozen=True)
class AllVotes(Voted):
    """All votes of a task with their workers, for heads that learn from people."""

    gives: ClassVar[Gives] = "votes"

    def _lessons(self, known: Known, tasks: Names, labels: Names, device: torch.device) -> Lessons:
        votes = votes_on(known, tasks, labels)
        if (votes.worker < 0).any():
            raise InputError(f"the target {self.name()} must know who voted; these votes hold counts without names")
        return AllOfThem(votes, device)
