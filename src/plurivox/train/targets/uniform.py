"""Target `uniform`: the same probability for every label, as a control."""

from dataclasses import dataclass

import torch

from plurivox.core.array_types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.target_base_classes import ControlTarget
from plurivox.train.targets._shared.training_examples import FixedExamples


@dataclass(frozen=True)
class Uniform(ControlTarget):
    """The same probability for every label: a control without information.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        del supervision
        return FixedExamples(torch.full((len(tasks), len(labels)), 1 / len(labels), device=device))
