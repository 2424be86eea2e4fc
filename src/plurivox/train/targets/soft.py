"""Target `soft`: soft labels from any source."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.method import option
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import Estimand
from plurivox.core.soft_transforms import harden
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.training_examples import FixedExamples


@dataclass(frozen=True)
class Soft(Target):
    """The soft label of a task as given: from an aggregator, elicited, or from another source.

    Peterson et al. (2019), https://doi.org/10.1109/ICCV.2019.00971; Uma et al. (2020),
    https://doi.org/10.1609/hcomp.v8i1.7478
    """

    needs: ClassVar[tuple[str, ...]] = ("soft",)

    hard: bool = option(False, "train on the most probable label only, not on the distribution")

    def estimated_quantity(self, soft: Estimand = "unknown") -> Estimand:
        return "truth" if self.hard and soft == "people" else soft

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        assert supervision.soft is not None
        return positions(supervision.soft.tasks, tasks) >= 0

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        assert supervision.soft is not None
        soft = supervision.soft.on(tasks)
        return FixedExamples.from_soft_labels(harden(soft) if self.hard else soft, tasks, labels, device)
