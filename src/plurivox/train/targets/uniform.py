"""Labels that say nothing."""

from dataclasses import dataclass

import torch

from plurivox.core.types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.examples import Table
from plurivox.train.targets._shared.target_bases import Control


@dataclass(frozen=True)
class Uniform(Control):
    """The same mass on every label: a control that says nothing.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        del known
        return Table(torch.full((len(tasks), len(labels)), 1 / len(labels), device=device))
