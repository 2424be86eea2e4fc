"""MarginRecipe: what the recipes of AUM and WAUM share."""

from dataclasses import dataclass
from typing import ClassVar

from plurivox.core.method import option
from plurivox.core.progress import Progress, no_progress
from plurivox.core.tables import Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf


@dataclass(frozen=True)
class MarginRecipe(Recipe):
    """Train and record nets, and rank tasks by a score of their margins; options of a recipe's own are the score's."""

    reads: ClassVar[tuple[str, ...]] = ("labelme",)
    score: ClassVar[str]  # an identifier
    shown: ClassVar[str]  # its name in the title

    data: str = option("labelme", "a data set with features and votes")
    net: str = option("labelme-head", "the net on the features")
    epochs: int = option(30, "epochs that are recorded", low=1)
    batch: int = option(64, "batch size: examples per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    runs: int = option(3, "trainings, with seeds of their own", low=1)
    n: int = option(10, "how many of the worst to show", low=1)
    seed: int = option(0, "of the first run", low=0)

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Train, record, score."""
        from plurivox import identify
        from plurivox.train.plan import Plan
        from plurivox.workflows.training_dynamics import DynamicsSetup, score_runs, score_tables

        plan = Plan(epochs=self.epochs, batch=self.batch, lr=self.lr, seed=self.seed, device="cpu")
        stage = DynamicsSetup.of(read(self.data), self.net, plan)
        shared = {one.name for one in MarginRecipe.options()}
        own = {one.name: getattr(self, one.name) for one in self.options() if one.name not in shared}
        found = score_runs(stage, identify.methods.make(self.score, **own), self.runs, progress)
        return Tables(f"{self.shown} of {stage.training_data.name}", score_tables(stage, found, self.n), self.spec)
