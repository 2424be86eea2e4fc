"""Target `smoothed`: label smoothing of another target."""

from dataclasses import dataclass

import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.target_base_classes import make_component_target
from plurivox.train.targets._shared.training_examples import FixedExamples


@dataclass(frozen=True)
class Smoothed(Target):
    """Label smoothing: a share `beta` of the probability is spread evenly over all labels.

    (1 - beta) p + beta / K.

    Szegedy et al. (2016), https://doi.org/10.1109/CVPR.2016.308; 0.05 as in Collins et al. (2022), Table 6.
    """

    of: str = option("gold", "the target that is smoothed: gold, majority or soft")
    beta: float = option(0.05, "share of the probability that is spread evenly over all labels", low=0, high=1)

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        return make_component_target(self.of, self.name()).mask_of_tasks_with_target(supervision, tasks)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        table = make_component_target(self.of, self.name()).make_examples(supervision, tasks, labels, device)
        if not isinstance(table, FixedExamples):
            raise OptionError(f"{self.of} is drawn again in every epoch; {self.name()} takes gold, majority or soft")
        return FixedExamples((1 - self.beta) * table.prob + self.beta / len(labels))
