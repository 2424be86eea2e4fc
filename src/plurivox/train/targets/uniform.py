"""Labels that say nothing."""

from dataclasses import dataclass

import torch

from plurivox.core.names import Names
from plurivox.train.targets._contract import Known, Lessons
from plurivox.train.targets._controls import Control
from plurivox.train.targets._lessons import Table


@dataclass(frozen=True)
class Uniform(Control):
    """The same mass on every label: a control that says nothing.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    def _lessons(self, known: Known, tasks: Names, labels: Names, device: torch.device) -> Lessons:
        del known
        return Table(torch.full((len(tasks), len(labels)), 1 / len(labels), device=device))
