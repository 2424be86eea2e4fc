"""Target `random`: random soft labels, as a control."""

from dataclasses import dataclass

import numpy as np
import torch

from plurivox.core.array_types import Names
from plurivox.core.method import option
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_transforms import random_soft_labels_like
from plurivox.train.targets._contract import Examples, Supervision
from plurivox.train.targets._shared.target_base_classes import ControlTarget
from plurivox.train.targets._shared.training_examples import FixedExamples


@dataclass(frozen=True)
class Random(ControlTarget):
    """Random soft labels, drawn once: a control without information.

    Uniform random numbers from 0 to 1, divided by their sum.

    Collins et al. (2022), section 5.1, https://doi.org/10.1609/hcomp.v10i1.21986
    """

    seed: int = option(0, "seed of the random soft labels", low=0)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        del supervision
        any_label = SoftLabels.one_hot(np.zeros(len(tasks), np.int64), tasks, labels)
        return FixedExamples.from_soft_labels(random_soft_labels_like(any_label, self.seed), tasks, labels, device)
