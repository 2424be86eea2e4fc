"""Recipe waum-per-worker: train one network per worker, record the logits, and rank tasks by margins (WAUM)."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.recipes.waum import Waum


@dataclass(frozen=True)
class WaumPerWorker(Waum):
    """Train one network per worker on that worker's votes, record the logits, and rank tasks (WAUM per worker).

    The margins of a worker do not depend on the votes of others; networks of workers with few votes are inaccurate.
    Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    score: ClassVar[str] = "waum-per-worker"
    title: ClassVar[str] = "waum-per-worker"
