"""WAUM: train on every vote, record, and find the tasks whose votes never stood out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.recipes._margins import MarginRecipe


@dataclass(frozen=True)
class Waum(MarginRecipe):
    """Train on every pair of a task and a vote, record, and rank tasks by margins weighed by trust in the voter (WAUM).

    Dawid and Skene's matrices say whom to trust. Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    score: ClassVar[str] = "waum"
    shown: ClassVar[str] = "waum"

    data: str = option("labelme", "a data set with features and votes of named workers")
    margin: Literal["yang", "pleiss"] = option("yang", "to the second largest probability, or to the largest other")
    top_k: int = option(1, "a label among the k best does not count as wrong", low=1)
    divide_by: Literal["weights", "votes"] = option("weights", "what weighed margins are divided by")
