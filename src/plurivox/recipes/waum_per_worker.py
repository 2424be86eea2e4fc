"""WAUM with a net for every worker."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.recipes.waum import Waum


@dataclass(frozen=True)
class WaumPerWorker(Waum):
    """Train a net for every worker on that worker's votes alone, record, and rank tasks (WAUM per worker).

    No worker's answers touch the margins of another; where workers have few votes, their nets know little.
    Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    score: ClassVar[str] = "waum-per-worker"
    shown: ClassVar[str] = "waum-per-worker"
