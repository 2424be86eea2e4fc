"""Target `random`: random soft labels, as a control."""

from dataclasses import dataclass

import numpy as np
import torch

from plurivox.core.method import option
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import random_labels
from plurivox.core.types import Names
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.examples import FixedExamples
from plurivox.train.targets._shared.target_bases import ControlTarget


@dataclass(frozen=True)
class Random(ControlTarget):
    """Random soft labels, drawn once: a control without information.

    Uniform random numbers from 0 to 1, divided by their sum.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    seed: int = option(0, "seed of the random soft labels", low=0)

    def _examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        del supervision
        any_label = SoftLabels.one_hot(np.zeros(len(tasks), np.int64), tasks, labels)
        return FixedExamples.from_soft_labels(random_labels(any_label, self.seed), tasks, labels, device)
