"""Target `pair`: a main label and a soft label per task, for two heads."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.method import option
from plurivox.core.soft_labels import Estimand
from plurivox.train.targets._contract import Examples, Supervision, Target, TargetKind
from plurivox.train.targets._shared.target_base_classes import make_component_target
from plurivox.train.targets._shared.training_examples import PairExamples


@dataclass(frozen=True)
class Pair(Target):
    """A main label and a soft label of the same task, for the head `two-heads`.

    The main label is gold, or silver (the majority vote).

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204
    """

    kind: ClassVar[TargetKind] = "pair"

    main: str = option("gold", "target of the hard head: gold, or majority for silver labels")
    soft: str = option("soft", "target of the soft head")

    def make_both_component_targets(self) -> tuple[Target, Target]:
        """Return the target of the hard head (`main`) and that of the soft head (`soft`)."""
        return make_component_target(self.main, self.name()), make_component_target(self.soft, self.name())

    def component_targets(self) -> tuple[Target, ...]:
        return self.make_both_component_targets()

    def estimated_quantity(self, soft: Estimand = "unknown") -> Estimand:
        return self.make_both_component_targets()[0].estimated_quantity(soft)  # the hard head predicts

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        main, soft = self.make_both_component_targets()
        return main.mask_of_tasks_with_target(supervision, tasks) & soft.mask_of_tasks_with_target(supervision, tasks)

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        main, soft = (
            one.make_examples(supervision, tasks, labels, device) for one in self.make_both_component_targets()
        )
        return PairExamples(main, soft)
