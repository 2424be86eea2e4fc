"""Soft labels, whoever made them."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.encoding import positions
from plurivox.core.method import option
from plurivox.core.soft_transforms import harden
from plurivox.core.types import Bools, Names
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.examples import Table


@dataclass(frozen=True)
class Soft(Target):
    """The soft label of a task, as given: of any aggregator, elicited or made otherwise.

    Peterson et al. (2019), https://doi.org/10.1109/ICCV.2019.00971; Uma et al. (2020),
    https://doi.org/10.1609/hcomp.v8i1.7478
    """

    needs: ClassVar[tuple[str, ...]] = ("soft",)

    hard: bool = option(False, "teach its most probable label alone")

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        assert known.soft is not None
        return positions(known.soft.tasks, tasks) >= 0

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        assert known.soft is not None
        mine = known.soft.on(tasks)
        return Table.of(harden(mine) if self.hard else mine, tasks, labels, device)
