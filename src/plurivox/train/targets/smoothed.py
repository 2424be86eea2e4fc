"""Label smoothing."""

from dataclasses import dataclass

import torch

from plurivox.core.errors import OptionError
from plurivox.core.method import option
from plurivox.core.types import Bools, Names
from plurivox.train.targets._contract import Examples, Supervision, Target
from plurivox.train.targets._shared.examples import Table
from plurivox.train.targets._shared.target_bases import part


@dataclass(frozen=True)
class Smoothed(Target):
    """Label smoothing: a share of every label's mass is spread evenly over all labels.

    (1 - beta) p + beta / K.

    Szegedy et al. (2016), https://doi.org/10.1109/CVPR.2016.308; 0.05 as in Collins et al. (2022), Table 6.
    """

    of: str = option("gold", "the target that is smoothed: gold, majority or soft")
    beta: float = option(0.05, "share that is spread", low=0, high=1)

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        return part(self.of, self.name()).teaches(known, tasks)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        table = part(self.of, self.name()).examples(known, tasks, labels, device)
        if not isinstance(table, Table):
            raise OptionError(f"{self.of} is drawn anew at every visit; {self.name()} takes gold, majority or soft")
        return Table((1 - self.beta) * table.prob + self.beta / len(labels))
