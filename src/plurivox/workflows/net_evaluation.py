"""Evaluate trained nets against gold labels and vote shares; summarise several training runs as mean ± std and as tables."""

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from plurivox.core.array_types import Floats, Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.errors import unknown_name_error
from plurivox.core.name_encoding import positions
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import MEASURES, Measure, Spread, majority_baseline, spread
from plurivox.train.data.training_data import TrainingData
from plurivox.train.training_hyperparameters import Plan

if TYPE_CHECKING:  # tables of runs do not need torch
    from plurivox.train.trained_net import Trained

Runs = Mapping[str, Sequence[Mapping[str, float]]]  # method -> the measures of each of its runs
HARD_MEASURES = ("accuracy", "balanced-accuracy", "macro-f1", "weighted-f1", "nll", "brier", "ece")
SOFT_MEASURES = (
    "cross-entropy",
    "kl-divergence",
    "jensen-shannon-divergence",
    "total-variation",
    "entropy-correlation",
)


def gold_and_vote_shares(training_data: TrainingData, tasks: Names) -> tuple[SoftLabels | None, SoftLabels | None]:
    """Return (gold labels, vote shares) of those of the tasks that have any; None in place of either if no task has any."""
    gold = None if training_data.gold is None else training_data.gold.shared(tasks)
    votes = training_data.votes
    shares = None
    if votes is not None:
        voted = tasks[positions(votes.tasks_with_votes, tasks) >= 0]
        if len(voted):
            shares = SoftLabels.from_vote_shares(votes.on(voted))
    return (gold if gold is not None and len(gold) else None), shares


def labels_absent_from_training(training_data: TrainingData, splits: Mapping[str, Names]) -> Names:
    """Return the labels that dev or test tasks have by gold, but no training task has by gold or votes."""
    gold, shares = gold_and_vote_shares(training_data, splits["train"])
    tested = np.concatenate([tasks for name, tasks in splits.items() if name != "train"] or [training_data.tasks[:0]])
    wanted = gold_and_vote_shares(training_data, tested)[0]
    if wanted is None:
        return training_data.tasks[:0]
    in_training = [one.labels[(one.prob > 0).any(0)] for one in (gold, shares) if one is not None]
    present = wanted.labels[(wanted.prob > 0).any(0)]
    known = (
        np.any([positions(one, present) >= 0 for one in in_training], axis=0)
        if in_training
        else np.ones(len(present), bool)
    )
    return present[~known]


def dev_inputs_and_truth(
    training_data: TrainingData, splits: Mapping[str, Names], measure_name: str
) -> tuple[Floats, SoftLabels] | None:
    """Return (inputs, true labels) of the dev tasks: gold labels, else vote shares; None if there are neither.

    Measures of entropy are undefined for gold labels, whose entropy is 0: for them vote shares come first.
    """
    truth = None
    if "dev" in splits:
        hard, soft = gold_and_vote_shares(training_data, splits["dev"])
        first, second = (soft, hard) if measure_name.startswith("entropy-") else (hard, soft)
        truth = first if first is not None else second
    return None if truth is None else (training_data.inputs_of(truth.tasks), truth)


def plan_with_goal_and_dev_measure(plan: Plan) -> tuple[Plan, dict[str, Measure]]:
    """Return the plan with its goal (highest or lowest dev measure), and {name: measure} unless training computes it itself."""
    if plan.best in ("last", "loss", "accuracy"):
        return plan, {}
    if plan.best not in MEASURES:
        raise unknown_name_error("measure", plan.best, ["last", "loss", *MEASURES])
    measure = MEASURES[plan.best]
    goal = plan.goal if plan.goal != "auto" else "highest" if measure.better == "higher" else "lowest"
    return replace(plan, goal=goal), {plan.best: measure}


def measure_net_on_each_split(
    trained: "Trained", training_data: TrainingData, splits: Mapping[str, Names]
) -> dict[str, float]:
    """Return {"<split> <measure>": value} of a trained net: hard measures against gold, soft against vote shares, baseline."""
    found: dict[str, float] = {}
    for split, tasks in splits.items():
        prediction = trained.predict(training_data.inputs_of(tasks), tasks)
        gold, shares = gold_and_vote_shares(training_data, tasks)
        for truth, names, kind in ((gold, HARD_MEASURES, ""), (shares, SOFT_MEASURES, "soft ")):
            if truth is not None:
                found |= {f"{split} {kind}{name}": MEASURES[name](prediction, truth) for name in names}
        if gold is not None:
            found[f"{split} baseline"] = majority_baseline(gold)[1]
    return found


# ---- several runs


@dataclass(frozen=True)
class Series:
    """The measures of several training runs of the same setup with different seeds."""

    seeds: tuple[int, ...]
    measures: Mapping[str, tuple[float, ...]]  # one value per run
    at_once: int = 1  # how many runs were trained in parallel
    stacked: bool = False  # whether they were trained as one stacked net

    @classmethod
    def from_measures_of_runs(
        cls,
        measures_of_each_run: Sequence[Mapping[str, float]],
        first_seed: int,
        at_once: int = 1,
        stacked: bool = False,
    ) -> Self:
        """Return the Series of the measures of training runs that had the seeds first_seed, first_seed + 1, ..."""
        measures = {name: tuple(one[name] for one in measures_of_each_run) for name in measures_of_each_run[0]}
        return cls(tuple(range(first_seed, first_seed + len(measures_of_each_run))), measures, at_once, stacked)

    def mean_over_runs(self, measure: str) -> float:
        """Return the mean of a measure over the training runs."""
        return Spread.mean_and_std_of(self.measures[measure]).mean

    def std_over_runs(self, measure: str) -> float:
        """Return the standard deviation of a measure over the training runs (divided by n - 1); NaN for a single run."""
        return Spread.mean_and_std_of(self.measures[measure]).std

    def mean_plus_minus_std_text(self, measure: str, digits: int = 4) -> str:
        """Return the "mean ± std" of a measure over the training runs as text.

        >>> Series((0, 1), {"accuracy": (0.8, 0.9)}).mean_plus_minus_std_text("accuracy")
        '0.8500 ± 0.0707'
        """
        return Spread.mean_and_std_of(self.measures[measure]).mean_plus_minus_std_text(digits)

    def run_seed_and_measure_columns(self) -> dict[str, tuple[float, ...]]:
        """Return the training runs as columns: run, seed, and one per measure."""
        return {"run": tuple(range(len(self.seeds))), "seed": self.seeds, **self.measures}

    def write_measures_of_runs(self, csv_path: Path) -> None:
        """Write the measures of all training runs to a CSV file with one row per run."""
        with atomic_file(csv_path) as part, part.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            columns = self.run_seed_and_measure_columns()
            rows.writerow(columns)
            rows.writerows(zip(*columns.values(), strict=True))


def mean_and_std_table(
    title: str,
    measures_of_runs_by_method: Runs,
    notes: Sequence[str] = (),
    digits: int = 4,
    first_column_name: str = "method",
) -> Table:
    """Return a table with one row per method: number of training runs, and every measure as mean ± std (n - 1).

    >>> print(mean_and_std_table("Two", {"a": [{"accuracy": .8}, {"accuracy": .9}], "b": [{"accuracy": .5}]}, digits=2).text())
    Two
    method  runs  accuracy
    a          2  0.85 ± 0.07
    b          1  0.50
    """
    names = list(dict.fromkeys(name for each in measures_of_runs_by_method.values() for one in each for name in one))
    cells: dict[str, object] = {
        first_column_name: list(measures_of_runs_by_method),
        "runs": [len(each) for each in measures_of_runs_by_method.values()],
    }
    for name in names:
        cells[name] = [
            _format_mean_and_std([one[name] for one in each if name in one], digits)
            for each in measures_of_runs_by_method.values()
        ]
    return Table(title, cells, tuple(note for note in notes if note))


def _format_mean_and_std(values: Sequence[float], digits: int) -> str:
    """Return "mean ± std" as text; "-" if there are no values."""
    return spread(values).mean_plus_minus_std_text(digits) if values else "-"


def every_run_table(
    title: str, measures_of_runs_by_method: Runs, first_seed: int = 0, first_column_name: str = "method"
) -> Table:
    """Return a table with one row per training run: method, run, seed and the measures."""
    rows = [(method, run, one) for method, each in measures_of_runs_by_method.items() for run, one in enumerate(each)]
    names = list(dict.fromkeys(name for _, _, one in rows for name in one))
    cells: dict[str, object] = {
        first_column_name: [method for method, _, _ in rows],
        "run": [run for _, run, _ in rows],
        "seed": [first_seed + run for _, run, _ in rows],
    }
    return Table(title, cells | {name: [one.get(name) for _, _, one in rows] for name in names})
