"""Recipe aum: train a network, record the logits, and find tasks whose label had a small margin (AUM)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.recipes._margin_ranking_base_class import MarginRecipe


@dataclass(frozen=True)
class Aum(MarginRecipe):
    """Train on one label per task, record the logits, and rank tasks by the margin of their label (AUM).

    The logits are recorded during training, as Pleiss et al. (2020) define it, https://doi.org/10.48550/arXiv.2001.10528. With
    `assigned=gold` and clean gold labels it finds hard photos; with the majority label, or that of Dawid and Skene
    (`fit`), it also finds labels that are wrong.
    """

    score: ClassVar[str] = "aum"
    title: ClassVar[str] = "AUM"

    assigned: Literal["gold", "majority", "fit"] = option(
        "majority", "label of each task that the network is trained on"
    )
    margin: Literal["pleiss", "yang"] = option("pleiss", "margin to the largest other logit, or to the second largest")
