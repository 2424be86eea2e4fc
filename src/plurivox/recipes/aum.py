"""AUM: train, record, and find the tasks whose label never stood out."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from plurivox.core.method import option
from plurivox.core.progress import Watch, quiet
from plurivox.core.tables import Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf


@dataclass(frozen=True)
class Aum(Recipe):
    """Train on one label a task, record the logits, and rank tasks by how little their label stood out (AUM).

    The logits are those of the visits, as Pleiss et al. (2020) define it, https://doi.org/10.48550/arXiv.2001.10528. With
    `assigned=gold` and clean gold labels it finds hard photos; with the majority's label, or that of Dawid and Skene
    (`fit`), it also finds labels that are wrong.
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme",)

    data: str = option("labelme", "a data set with features and votes")
    assigned: Literal["gold", "majority", "fit"] = option("majority", "the label that a task is given, and taught")
    margin: Literal["pleiss", "yang"] = option("pleiss", "to the largest other logit, or to the second largest")
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
        method = identify.methods.make("aum", assigned=self.assigned, margin=self.margin)
        found = score_runs(stage, method, self.runs, watch)
        return Tables(f"AUM of {stage.material.name}", score_tables(stage, found, self.n), self.word)
