"""Recipe prune-and-train: drop the worst training tasks by a score, train a network, and compare with no or random drops."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from plurivox import evaluate
from plurivox.core.errors import InputError
from plurivox.core.method import option
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Tables
from plurivox.recipes._contract import DatasetReader, Recipe, parse_shares, read_dataset
from plurivox.workflows.net_evaluation import every_run_table, gold_use_note, mean_and_std_table
from plurivox.workflows.result_cache import ResultCache, settings_text

if TYPE_CHECKING:
    from plurivox.core.array_types import Ints, Names
    from plurivox.core.soft_labels import SoftLabels
    from plurivox.workflows.score_by_training_dynamics import DynamicsSetup

MEASURES = ("accuracy", "nll", "brier", "ece")


@dataclass(frozen=True)
class PruneAndTrain(Recipe):
    """Drop the worst share alpha of the training tasks by a score, train, and compare with dropping none or random tasks.

    Test tasks are never pruned; dev tasks, if there are any, only choose the epoch by their gold labels. For every alpha
    the same number of tasks is also dropped at random, which shows the effect of fewer tasks alone. Scores of training
    dynamics (aum, waum, waum-per-worker) are trained with the seed of each run; others, such as entropy, use the votes.
    Lefort et al. (2024), https://doi.org/10.48550/arXiv.2209.15380
    """

    reads: ClassVar[tuple[str, ...]] = ("labelme",)

    data: str = option("labelme", "a data set with features, images or texts, votes and gold labels")
    score: str = option("waum", "score of tasks with its options, see plurivox methods identify")
    alphas: str = option("0.01,0.05,0.1", "shares of the worst training tasks to drop, comma-separated")
    method: str = option(
        "weighted-dawid-skene", "aggregation method of the training labels, or another training target"
    )
    net: str = option("labelme-head", "network that is trained, such as cifar-resnet on images")
    image_size: int = option(0, "resize images to this many pixels in width and height; 0: unchanged", low=0)
    device: str = option("cpu", "cpu or cuda; auto: CUDA if available")
    score_epochs: int = option(30, "number of epochs recorded for the score", low=1)
    epochs: int = option(50, "number of epochs of the networks that are compared", low=1)
    batch: int = option(64, "batch size: examples per step", low=1)
    lr: float = option(1e-3, "learning rate of Adam", low=0)
    runs: int = option(5, "number of runs of the whole experiment, with the seeds seed, seed + 1, ...", low=1)
    folder: str = option("", "folder to save every result in; an interrupted recipe continues from it")
    seed: int = option(0, "seed of the first run", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._parse_alphas()

    def _parse_alphas(self) -> list[float]:
        """Return the shares of training tasks to drop, parsed from the option `alphas`; raise OptionError if one is invalid."""
        return parse_shares(self.alphas, f"{self.name()}: alphas", may_be_empty=True)

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """For every seed drop the worst or random training tasks, train on the others; return a table of mean test measures."""
        from plurivox.train.training_hyperparameters import Plan
        from plurivox.workflows.score_by_training_dynamics import DynamicsSetup

        plan = Plan(epochs=self.score_epochs, batch=self.batch, lr=self.lr, seed=self.seed, device=self.device)
        setup = DynamicsSetup.from_dataset(read(self.data), self.net, plan, image_size=self.image_size or None)
        if setup.training_data.gold is None or "test" not in setup.parts:
            raise InputError(f"{setup.training_data.name} needs gold labels (--gold FILE) and test tasks to compare on")
        cache = ResultCache(self.folder, settings_text(replace(self, runs=1, folder=""), ("image_size", "device")))
        alphas, found = self._parse_alphas(), dict[str, list[dict[str, float]]]()
        for run in range(self.runs):
            seeded = setup.with_plan_seed_replaced(self.seed + run)
            order = _TaskDropOrder(seeded, self.score)
            for which, alpha in [("none", 0.0), *((which, alpha) for alpha in alphas for which in ("worst", "by lot"))]:
                name = f"{which} {100 * alpha:g}%" if alpha else "none"
                make = partial(self._drop_tasks_train_and_measure, seeded, order, which, alpha)
                numbers = cache.load_or_compute_numbers(f"{name.replace(' ', '-')}-{run:03d}", make)
                found.setdefault(name, []).append(numbers)
            progress(run, self.runs)
        gold = setup.training_data.gold.on(setup.parts["test"])
        label, share = evaluate.majority_baseline(gold)
        note = (
            f"{len(gold):,} test tasks, never pruned; always {label}: accuracy {share:.4f}; labels: share of the training "
            "labels that are correct"
        )
        gold_note = gold_use_note(self._gold_uses(setup))
        title = f"Dropping the worst of {len(setup.parts['train']):,} tasks by {self.score}, then {self.method}"
        tables = (
            mean_and_std_table(title, found, (note, gold_note), first_column_name="dropped"),
            every_run_table("Every run", found, self.seed, first_column_name="dropped"),
        )
        return Tables(f"Pruning {setup.training_data.name} before training", tables, self.spec)

    def _gold_uses(self, setup: "DynamicsSetup") -> list[str]:
        """Return for what gold labels are used besides measuring: to score tasks, as training labels, to choose the epoch."""
        from plurivox import identify
        from plurivox.workflows.net_evaluation import dev_truth_and_its_kind
        from plurivox.workflows.score_by_training_dynamics import gold_use_of_score
        from plurivox.workflows.train_nets import make_train_spec

        uses = gold_use_of_score(identify.methods.make(self.score)) if self._parse_alphas() else []
        if make_train_spec(self.method).target.can_train_on_gold:
            uses.append(f"as training labels ({self.method})")
        truth, kind = dev_truth_and_its_kind(setup.training_data, setup.parts, "accuracy")
        if truth is not None and kind == "gold":
            uses.append(f"to choose the epoch (accuracy on {len(truth):,} dev tasks)")
        return uses

    def _drop_tasks_train_and_measure(
        self, setup: "DynamicsSetup", order: "_TaskDropOrder", drop_rule: str, alpha: float
    ) -> dict[str, float]:
        """Drop the share `alpha` of the training tasks, train on the others, and return the measures on the test tasks."""
        from plurivox.workflows.train_nets import make_train_spec, train_once

        train = setup.parts["train"]
        order_of_drop = (
            order.training_task_positions_worst_first()
            if drop_rule == "worst"
            else order.training_task_positions_in_random_order()
        )
        remaining = train[~np.isin(np.arange(len(train)), order_of_drop[: math.floor(alpha * len(train) + 1e-9)])]
        parts = {"train": remaining, **({"dev": setup.parts["dev"]} if "dev" in setup.parts else {})}
        plan = replace(setup.plan, epochs=self.epochs, best="accuracy" if "dev" in parts else "last")
        training_data, test = setup.training_data, setup.parts["test"]
        trained = train_once(training_data, parts, make_train_spec(self.method, net=self.net, plan=plan))
        prediction, gold = trained.predict(training_data.inputs_of(test), test), training_data.gold
        assert gold is not None
        soft = _labels_if_target_is_aggregator(setup, remaining, self.method)
        labels = {} if soft is None else {"labels": evaluate.accuracy(soft, gold.on(remaining))}
        return {
            **{name: evaluate.MEASURES[name](prediction, gold.on(test)) for name in MEASURES},
            **labels,
            "tasks": float(len(remaining)),
        }


class _TaskDropOrder:
    """Orders in which training tasks are dropped, worst first or at random; the score is computed on first use."""

    def __init__(self, setup: "DynamicsSetup", score: str) -> None:
        self.setup, self.score = setup, score
        self._worst_first: Ints | None = None

    def training_task_positions_worst_first(self) -> "Ints":
        """(n_train,) positions of the training tasks, worst score first; tasks without a score come last."""
        if self._worst_first is None:
            from plurivox import identify
            from plurivox.core.name_encoding import positions
            from plurivox.workflows.score_by_training_dynamics import train_nets_and_score_tasks

            found = train_nets_and_score_tasks(self.setup, identify.methods.make(self.score))
            place = positions(found.names, self.setup.parts["train"])
            badness = np.where(place >= 0, found.badness[place], np.nan)
            self._worst_first = np.argsort(np.where(np.isnan(badness), np.inf, -badness), kind="stable")
        return self._worst_first

    def training_task_positions_in_random_order(self) -> "Ints":
        """(n_train,) positions of the training tasks in random order."""
        return np.random.default_rng(self.setup.plan.seed).permutation(len(self.setup.parts["train"]))


def _labels_if_target_is_aggregator(setup: "DynamicsSetup", tasks: "Names", target_spec: str) -> "SoftLabels | None":
    """Return the soft labels of `tasks` by an aggregation method; None if `target_spec` is another target."""
    from plurivox import aggregate
    from plurivox.core.method import parse_spec

    if parse_spec(target_spec)[0] not in aggregate.methods:
        return None
    return aggregate.methods.make(target_spec).fit(setup.votes.on(tasks)).soft
