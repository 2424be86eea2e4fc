"""Target `smoothed`: label smoothing of another target."""

from dataclasses import dataclass

import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.core.soft_labels import Estimand
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.target_base_classes import make_component_target
from plurivox.train.targets._shared.training_examples import FixedExamples

DEFAULT_OF = "majority"  # gold labels are used only if `of` says so


@dataclass(frozen=True)
class Smoothed(Target):
    """Label smoothing: a share `beta` of the probability is spread evenly over all labels.

    (1 - beta) p + beta / K, where p is the label of the target `of`. Without `of` it is the majority vote; before version 0.2
    it was the gold label.

    Szegedy et al. (2016), https://doi.org/10.1109/CVPR.2016.308; 0.05 as in Collins et al. (2022), Table 6.
    """

    of: str = option("", "the target that is smoothed: majority, gold or soft; empty: majority")
    beta: float = option(0.05, "share of the probability that is spread evenly over all labels", low=0, high=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.of:  # the spec always names the target: before version 0.2 `smoothed` alone meant gold
            object.__setattr__(self, "of", DEFAULT_OF)

    def component_targets(self) -> tuple[Target, ...]:
        return (make_component_target(self.of, self.name()),)

    def estimated_quantity(self, soft: Estimand = "unknown") -> Estimand:
        return make_component_target(self.of, self.name()).estimated_quantity(soft)

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        return make_component_target(self.of, self.name()).mask_of_tasks_with_target(supervision, tasks)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        table = make_component_target(self.of, self.name()).make_examples(supervision, tasks, labels, device)
        if not isinstance(table, FixedExamples):
            raise OptionError(f"{self.of} is drawn again in every epoch; {self.name()} takes majority, gold or soft")
        return FixedExamples((1 - self.beta) * table.prob + self.beta / len(labels))
