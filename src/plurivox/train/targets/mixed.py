"""Some tasks from one target, the rest from another."""

from dataclasses import dataclass

import numpy as np
import torch

from plurivox.core.encoding import positions
from plurivox.core.method import option
from plurivox.core.types import Bools, Names
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.examples import MixedExamples, on_device
from plurivox.train.targets._shared.target_bases import part


@dataclass(frozen=True)
class Mixed(Target):
    """Some tasks are taught by one target, the rest by another: the parity design.

    The tasks of the first are those that are `chosen`, or else all that it can teach.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    first: str = option("soft", "target of the chosen tasks, or of those it can teach")
    rest: str = option("gold", "target of the others")

    def parts(self) -> tuple[Target, Target]:
        """(first, rest)."""
        return part(self.first, self.name()), part(self.rest, self.name())

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        mine = self._mine(known, tasks)
        first, rest = self.parts()
        return np.where(mine, first.teaches(known, tasks), rest.teaches(known, tasks))

    def _mine(self, known: Supervision, tasks: Names) -> Bools:
        """(n_tasks,) which tasks the first part teaches."""
        if known.chosen is not None:
            return positions(known.chosen, tasks) >= 0
        return self.parts()[0].teaches(known, tasks)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        mine, (first, rest) = self._mine(known, tasks), self.parts()
        if mine.all() or not mine.any():
            return (first if mine.all() else rest).examples(known, tasks, labels, device)
        place = np.where(mine, np.cumsum(mine) - 1, np.cumsum(~mine) - 1)  # (n_tasks,) the example within its part
        return MixedExamples(
            on_device(mine, device, torch.bool),
            on_device(place, device, torch.int64),
            first.examples(known, tasks[mine], labels, device),
            rest.examples(known, tasks[~mine], labels, device),
        )
