"""Recipe waum: train on every vote, record the logits, and find tasks whose votes had small margins (WAUM)."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.recipes._margin_ranking_base_class import MarginRecipe


@dataclass(frozen=True)
class Waum(MarginRecipe):
    """Train on every (task, vote) pair, record the logits, and rank tasks by margins weighted by worker reliability (WAUM).

    The weights come from Dawid and Skene's confusion matrices. Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    score: ClassVar[str] = "waum"
    title: ClassVar[str] = "waum"

    data: str = option("labelme", "a data set with features, images or texts and votes of named workers")
    margin: Literal["yang", "pleiss"] = option(
        "yang", "margin to the second largest probability, or to the largest other"
    )
    top_k: int = option(1, "a label among the k best does not count as wrong", low=1)
    divide_by: Literal["weights", "votes"] = option(
        "weights", "divide the sum of weighted margins by the weights or the votes"
    )
