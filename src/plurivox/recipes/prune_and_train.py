"""Score, drop the worst tasks, aggregate, train, compare."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress import Progress, no_progress
from plurivox.core.tables import Tables
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf, read_shares
from plurivox.workflows.net_evaluation import all_runs, mean_and_std
from plurivox.workflows.result_cache import ResultCache

if TYPE_CHECKING:
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.core.types import Ints, Names
    from plurivox.workflows.training_dynamics import DynamicsSetup

MEASURES = ("accuracy", "nll", "brier", "ece")


@dataclass(frozen=True)
class PruneAndTrain(Recipe):
    """Score the training tasks, drop the worst alpha, aggregate again, train, and compare with dropping none or any.

    The test tasks are never pruned, and dev tasks (where there are some) only choose the epoch by their gold labels. For
    every alpha as many tasks dropped by lot show what fewer tasks alone do. Scores that look at training (aum, waum,
    waum-per-worker) are trained for with each run's seed; others, such as entropy, look at the votes.
    Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme",)

    data: str = option("labelme", "a data set with features, votes and gold labels")
    score: str = option("waum", "a score of tasks with its options, see plurivox methods identify")
    alphas: str = option("0.01,0.05,0.1", "the shares of the worst to drop, with commas between")
    method: str = option("weighted-dawid-skene", "the aggregator, or another target")
    net: str = option("labelme-head", "the net on the features")
    score_epochs: int = option(30, "epochs recorded for the score", low=1)
    epochs: int = option(50, "epochs of the training that is compared", low=1)
    batch: int = option(64, "batch size: examples per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    runs: int = option(5, "whole walks, with seeds of their own", low=1)
    folder: str = option("", "a folder that keeps every result: a walk that was stopped goes on there")
    seed: int = option(0, "of the first run", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._shares()

    def _shares(self) -> list[float]:
        return read_shares(self.alphas, f"{self.name()}: alphas", or_none=True)

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """The whole walk, once a run."""
        from plurivox.train.plan import Plan
        from plurivox.workflows.training_dynamics import DynamicsSetup

        plan = Plan(epochs=self.score_epochs, batch=self.batch, lr=self.lr, seed=self.seed, device="cpu")
        stage = DynamicsSetup.of(read(self.data), self.net, plan)
        if stage.training_data.gold is None or "test" not in stage.parts:
            raise InputError(f"{stage.training_data.name} needs gold labels and test tasks to compare on")
        kept = ResultCache(self.folder, repr(replace(self, runs=1, folder="")))
        shares, found = self._shares(), dict[str, list[dict[str, float]]]()
        for run in range(self.runs):
            mine = stage.with_seed(self.seed + run)
            order = _Order(mine, self.score)
            for how, alpha in [("none", 0.0), *((how, one) for one in shares for how in ("worst", "by lot"))]:
                name = f"{how} {100 * alpha:g}%" if alpha else "none"
                make = partial(self._trained, mine, order, how, alpha)
                found.setdefault(name, []).append(kept.numbers(f"{name.replace(' ', '-')}-{run:03d}", make))
            progress(run, self.runs)
        gold = stage.training_data.gold.on(stage.parts["test"])
        label, share = evaluate.majority_baseline(gold)
        note = (
            f"{len(gold):,} test tasks, never pruned; always {label}: accuracy {share:.4f}; labels: how many of the "
            "labels taught are right"
        )
        title = f"Dropping the worst of {len(stage.parts['train']):,} tasks by {self.score}, then {self.method}"
        tables = (
            mean_and_std(title, found, (note,), of="dropped"),
            all_runs("Every run", found, self.seed, of="dropped"),
        )
        return Tables(f"Pruning {stage.training_data.name} before training", tables, self.spec)

    def _trained(self, stage: "DynamicsSetup", order: "_Order", how: str, alpha: float) -> dict[str, float]:
        """Train on what is left, and measure on the test tasks."""
        from plurivox.workflows.train import train_once, train_spec

        train = stage.parts["train"]
        gone = order.worst() if how == "worst" else order.by_lot()
        left = train[~np.isin(np.arange(len(train)), gone[: math.floor(alpha * len(train) + 1e-9)])]
        parts = {"train": left, **({"dev": stage.parts["dev"]} if "dev" in stage.parts else {})}
        plan = replace(stage.plan, epochs=self.epochs, best="accuracy" if "dev" in parts else "last")
        training_data, test = stage.training_data, stage.parts["test"]
        trained = train_once(training_data, parts, train_spec(self.method, net=self.net, plan=plan))
        prediction, gold = trained.predict(training_data.on(test), test), training_data.gold
        assert gold is not None
        taught = _taught(stage, left, self.method)
        labels = {} if taught is None else {"labels": evaluate.accuracy(taught, gold.on(left))}
        return {
            **{name: evaluate.MEASURES[name](prediction, gold.on(test)) for name in MEASURES},
            **labels,
            "tasks": float(len(left)),
        }


class _Order:
    """The training tasks, worst first or by lot; nothing is scored before it is asked for."""

    def __init__(self, stage: "DynamicsSetup", score: str) -> None:
        self.stage, self.score = stage, score
        self._worst: Ints | None = None

    def worst(self) -> "Ints":
        """(n,) places in the training tasks; those without a score come last."""
        if self._worst is None:
            from plurivox import identify
            from plurivox.core.encoding import positions
            from plurivox.workflows.training_dynamics import score_by_dynamics

            found = score_by_dynamics(self.stage, identify.methods.make(self.score))
            place = positions(found.names, self.stage.parts["train"])
            value = np.where(place >= 0, found.value[place], np.nan)
            self._worst = np.argsort(np.where(np.isnan(value), np.inf, -value), kind="stable")
        return self._worst

    def by_lot(self) -> "Ints":
        """(n,) the same number by lot."""
        return np.random.default_rng(self.stage.plan.seed).permutation(len(self.stage.parts["train"]))


def _taught(stage: "DynamicsSetup", tasks: "Names", method: str) -> "SoftLabels | None":
    """The soft labels that are taught, where an aggregator makes them."""
    from plurivox import aggregate
    from plurivox.core.method import parse_spec

    if parse_spec(method)[0] not in aggregate.methods:
        return None
    return aggregate.methods.make(method).fit(stage.votes.on(tasks)).soft
