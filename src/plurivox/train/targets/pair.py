"""A main label and a soft one, both at once."""

from dataclasses import dataclass
from typing import ClassVar

import torch

from plurivox.core.method import option
from plurivox.core.types import Bools, Names
from plurivox.train.targets._contract import Examples, Gives, Supervision, Target
from plurivox.train.targets._shared.examples import PairExamples
from plurivox.train.targets._shared.target_bases import part


@dataclass(frozen=True)
class Pair(Target):
    """A main label and a soft one, both at once: what two heads learn from.

    The main label is gold, or silver where it is the majority's.

    Fornaciari et al. (2021), https://doi.org/10.18653/v1/2021.naacl-main.204
    """

    gives: ClassVar[Gives] = "pair"

    main: str = option("gold", "target of the hard head: gold, or majority for silver labels")
    soft: str = option("soft", "target of the soft head")

    def parts(self) -> tuple[Target, Target]:
        """(main, soft)."""
        return part(self.main, self.name()), part(self.soft, self.name())

    def _teaches(self, known: Supervision, tasks: Names) -> Bools:
        main, soft = self.parts()
        return main.teaches(known, tasks) & soft.teaches(known, tasks)

    def _examples(self, known: Supervision, tasks: Names, labels: Names, device: torch.device) -> Examples:
        main, soft = (one.examples(known, tasks, labels, device) for one in self.parts())
        return PairExamples(main, soft)
