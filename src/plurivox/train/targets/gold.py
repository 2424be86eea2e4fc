"""Target `gold`: known true labels."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.array_types import Bools, Names
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import Estimand
from plurivox.core.soft_transforms import harden
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.training_examples import FixedExamples


@dataclass(frozen=True)
class Gold(Target):
    """The known true label of a task."""

    needs: ClassVar[tuple[str, ...]] = ("gold",)
    estimates: ClassVar[Estimand] = "truth"

    def _mask_of_tasks_with_target(self, supervision: Supervision, tasks: Names) -> Bools:
        assert supervision.gold is not None
        return positions(supervision.gold.tasks, tasks) >= 0

    def _make_examples(self, supervision: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        assert supervision.gold is not None
        return FixedExamples.from_soft_labels(harden(supervision.gold.on(tasks)), tasks, labels, device)
