"""WAUM: train on every vote, record, and find the tasks whose votes never stood out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.core.progress import Watch, quiet
from plurivox.core.tables import Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf


@dataclass(frozen=True)
class Waum(Recipe):
    """Train on every pair of a task and a vote, record, and rank tasks by margins weighed by trust in the voter (WAUM).

    Dawid and Skene's matrices say whom to trust. Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme",)
    score: ClassVar[str] = "waum"

    data: str = option("labelme", "a data set with features and votes of named workers")
    margin: Literal["yang", "pleiss"] = option("yang", "to the second largest probability, or to the largest other")
    top_k: int = option(1, "a label among the k best does not count as wrong", low=1)
    divide_by: Literal["weights", "votes"] = option("weights", "what weighed margins are divided by")
    net: str = option("labelme-head", "the net on the features")
    epochs: int = option(30, "epochs that are recorded", low=1)
    batch: int = option(64, "lessons a step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    runs: int = option(3, "trainings, with seeds of their own", low=1)
    n: int = option(10, "how many of the worst to show", low=1)
    seed: int = option(0, "of the first run", low=0)

    def run(self, *, read: Reader = from_the_shelf, watch: Watch = quiet) -> Tables:
        """Train, record, score."""
        from plurivox import identify
        from plurivox.train.plan import Plan
        from plurivox.workflows.dynamics import Stage, score_runs, score_tables

        plan = Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, seed=self.seed, device="cpu")
        stage = Stage.of(read(self.data), self.net, plan)
        options = {"margin": self.margin, "top_k": self.top_k, "divide_by": self.divide_by}
        found = score_runs(stage, identify.methods.make(self.score, **options), self.runs, watch)
        return Tables(f"{self.score} of {stage.material.name}", score_tables(stage, found, self.n), self.word)
