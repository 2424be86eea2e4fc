"""AUM: train, record, and find the tasks whose label never stood out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.recipes._margins import MarginRecipe


@dataclass(frozen=True)
class Aum(MarginRecipe):
    """Train on one label a task, record the logits, and rank tasks by how little their label stood out (AUM).

    The logits are those of the visits, as Pleiss et al. (2020) define it, https://doi.org/10.48550/arXiv.2001.10528. With
    `assigned=gold` and clean gold labels it finds hard photos; with the majority's label, or that of Dawid and Skene
    (`fit`), it also finds labels that are wrong.
    """

    score: ClassVar[str] = "aum"
    shown: ClassVar[str] = "AUM"

    assigned: Literal["gold", "majority", "fit"] = option("majority", "the label that a task is given, and taught")
    margin: Literal["pleiss", "yang"] = option("pleiss", "to the largest other logit, or to the second largest")
