"""Known labels."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.encoding import positions
from plurivox.core.soft_transforms import harden
from plurivox.core.types import Bools, Names
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.examples import Table


@dataclass(frozen=True)
class Gold(Target):
    """The known label of a task."""

    needs: ClassVar[tuple[str, ...]] = ("gold",)

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        assert known.gold is not None
        return positions(known.gold.tasks, tasks) >= 0

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        assert known.gold is not None
        return Table.of(harden(known.gold.on(tasks)), tasks, labels, device)
