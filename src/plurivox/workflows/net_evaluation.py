"""Evaluate trained nets against gold labels and vote shares; summarise several training runs as mean ± std and as tables."""

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from plurivox.core.array_types import Names
from plurivox.core.atomic_write import atomic_file
from plurivox.core.count_text import count_text
from plurivox.core.errors import InputError, unknown_name_error
from plurivox.core.name_encoding import positions
from plurivox.core.recipe_tables import Table
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate import MEASURES, Measure, Spread, majority_baseline
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


def gold_use_note(uses: Sequence[str]) -> str:
    """Return a note on the uses of gold labels besides measuring, such as "as training labels (gold)".

    >>> gold_use_note(["as training labels", "to choose the epoch"])
    'gold labels are used as training labels and to choose the epoch'
    >>> gold_use_note([])
    'gold labels are used neither as training labels nor to choose the epoch'
    """
    return (
        f"gold labels are used {' and '.join(uses) if uses else 'neither as training labels nor to choose the epoch'}"
    )


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


def dev_truth_and_its_kind(
    training_data: TrainingData, splits: Mapping[str, Names], measure_name: str, choose: str = ""
) -> tuple[SoftLabels | None, str]:
    """Return (true labels of the dev tasks, "gold" or "votes"); (None, "") if there are none.

    `choose` says which; if it is "", gold labels, else vote shares. Measures of entropy are undefined for gold labels, whose
    entropy is 0: for them vote shares come first. Raises InputError if no dev task has the labels that `choose` says.
    """
    hard, soft = gold_and_vote_shares(training_data, splits["dev"]) if "dev" in splits else (None, None)
    found = {"gold": hard, "votes": soft}
    if choose:
        if found[choose] is None:
            labels = "a gold label" if choose == "gold" else "votes"
            raise InputError(
                f"no dev task of {training_data.name} has {labels} by which the epoch could be chosen; leave out choose=... "
                "(--choose), or give other splits"
            )
        return found[choose], choose
    first, second = ("votes", "gold") if measure_name.startswith("entropy-") else ("gold", "votes")
    kind = next((kind for kind in (first, second) if found[kind] is not None), "")
    return found.get(kind), kind


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
        found |= measures_of_prediction(prediction, training_data, split)
    return found


def measures_of_prediction(prediction: SoftLabels, training_data: TrainingData, split: str) -> dict[str, float]:
    """Return {"<split> <measure>": value} of predictions: hard measures against gold, soft against vote shares, baseline."""
    found: dict[str, float] = {}
    gold, shares = gold_and_vote_shares(training_data, prediction.tasks)
    for truth, names, kind in ((gold, HARD_MEASURES, ""), (shares, SOFT_MEASURES, "soft ")):
        if truth is not None:
            found |= {f"{split} {kind}{name}": MEASURES[name](prediction, truth) for name in names}
    if gold is not None:
        found[f"{split} baseline"] = majority_baseline(gold)[1]
    return found


@dataclass(frozen=True)
class SplitCounts:
    """The number of tasks of a split, and of those among them over which its hard and its soft measures are computed."""

    tasks: int
    gold: int  # tasks with a gold label: hard measures and the baseline
    votes: int  # tasks with votes: soft measures

    def n_tasks_of_measure(self, measure: str) -> int:
        """Return the number of tasks of a measure, named as by `measure_net_on_each_split` without its split."""
        return self.votes if measure.startswith("soft ") else self.gold

    @property
    def text(self) -> str:
        """The counts as text, such as "12 tasks, 5 with a gold label, 9 with votes"."""
        return f"{count_text(self.tasks, 'task')}, {self.gold:,} with a gold label, {self.votes:,} with votes"


def count_tasks_of_each_split(training_data: TrainingData, splits: Mapping[str, Names]) -> dict[str, SplitCounts]:
    """Return {split: its number of tasks, of those with a gold label and of those with votes}."""
    found = {}
    for split, tasks in splits.items():
        gold, shares = gold_and_vote_shares(training_data, tasks)
        found[split] = SplitCounts(len(tasks), 0 if gold is None else len(gold), 0 if shares is None else len(shares))
    return found


@dataclass(frozen=True)
class TrainedCounts:
    """The number of tasks that a net is trained on, those left out by reason, and for what gold labels are used."""

    trained: int
    left_out: Mapping[str, int] = field(default_factory=dict)  # reason -> number of tasks
    by_target: Mapping[str, int] = field(default_factory=dict)  # with the target `mixed`: target -> number of tasks
    gold_used: tuple[str, ...] = ()  # such as "training labels", "choosing the epoch"
    labels_text: str = ""  # the use of gold labels, and of dev labels to choose the epoch, as one line

    @property
    def text(self) -> str:
        """The counts as text, such as "28 of 84 tasks (56 left out: no label for the target gold)"."""
        by_target = ", ".join(f"{n:,} on {target}" for target, n in self.by_target.items())
        if not self.left_out:
            return count_text(self.trained, "task") + (f": {by_target}" if by_target else "")
        total = self.trained + sum(self.left_out.values())
        reasons = "; ".join(f"{n:,} left out: {reason}" for reason, n in self.left_out.items())
        return f"{self.trained:,} of {count_text(total, 'task')} ({reasons})" + (f": {by_target}" if by_target else "")


def references_of_measures_text(measure_names: Iterable[str]) -> str:
    """Return which labels the measures of `measure_net_on_each_split` compare with, as a line of text; "" for no measures.

    >>> references_of_measures_text(["test accuracy", "test soft kl-divergence"])
    'soft measures are against vote shares, the others against gold labels'
    """
    soft = {" soft " in name for name in measure_names}
    if len(soft) == 2:
        return "soft measures are against vote shares, the others against gold labels"
    return {(): "", (True,): "measures are against vote shares", (False,): "measures are against gold labels"}[
        tuple(soft)
    ]


# ---- several runs


@dataclass(frozen=True)
class Series:
    """The measures of several training runs of the same setup with different seeds."""

    seeds: tuple[int, ...]
    measures: Mapping[str, tuple[float, ...]]  # one value per run
    at_once: int = 1  # how many runs were trained in parallel
    stacked: bool = False  # whether they were trained as one stacked net
    split_counts: Mapping[str, SplitCounts] = field(default_factory=dict)  # of the splits that are measured
    trained_counts: TrainedCounts | None = None

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
        """Return the mean of a measure over the training runs in which it is defined; NaN if there is none."""
        return _spread_of_defined(self.measures[measure]).mean

    def std_over_runs(self, measure: str) -> float:
        """Return the standard deviation (n - 1) of a measure over the runs in which it is defined; NaN for a single one."""
        return _spread_of_defined(self.measures[measure]).std

    def n_runs_with_measure(self, measure: str) -> int:
        """Return the number of training runs in which a measure is defined: its mean and std are over these."""
        return _spread_of_defined(self.measures[measure]).n

    def mean_plus_minus_std_text(self, measure: str, digits: int = 4) -> str:
        """Return the "mean ± std" of a measure over the training runs as text; it says in how many runs it is undefined.

        >>> series = Series((0, 1, 2), {"accuracy": (0.8, 0.9, 0.7), "r": (0.8, 0.9, float("nan"))})
        >>> series.mean_plus_minus_std_text("accuracy"), series.mean_plus_minus_std_text("r")
        ('0.8000 ± 0.1000', '0.8500 ± 0.0707 (undefined in 1 of 3 runs)')
        """
        return _format_mean_and_std(self.measures[measure], digits, len(self.seeds))

    def n_tasks_of_measure(self, measure: str) -> int | None:
        """Return the number of tasks over which a measure, such as "test accuracy", is computed; None if not counted."""
        split, _, name = measure.partition(" ")
        return self.split_counts[split].n_tasks_of_measure(name) if split in self.split_counts else None

    def summary_by_measure(self) -> dict[str, dict[str, float | None]]:
        """Return {measure: {"mean", "std", "tasks", "runs"}}: mean and std over runs, and the numbers of tasks and runs."""
        return {
            name: {
                "mean": self.mean_over_runs(name),
                "std": self.std_over_runs(name),
                "tasks": self.n_tasks_of_measure(name),
                "runs": self.n_runs_with_measure(name),
            }
            for name in self.measures
        }

    def text_rows_of_split(self, split: str) -> list[tuple[str, str, str]]:
        """Return (measure, mean ± std, number of tasks) of each measure of a split as texts, for a table."""
        return [
            (
                name.partition(" ")[2].replace("baseline", "always the most frequent label"),
                self.mean_plus_minus_std_text(name),
                count_text(self.n_tasks_of_measure(name) or 0, "task"),
            )
            for name in self.measures
            if name.startswith(f"{split} ")
        ]

    def run_seed_and_measure_columns(self) -> dict[str, tuple[float, ...]]:
        """Return the training runs as columns: run, seed, and one per measure."""
        return {"run": tuple(range(len(self.seeds))), "seed": self.seeds, **self.measures}

    def _task_count_columns(self) -> dict[str, tuple[float, ...]]:
        """Return columns of the number of training tasks, and of tasks with a gold label and with votes of each split."""
        counts = {} if self.trained_counts is None else {"train tasks": self.trained_counts.trained}
        for split, one in self.split_counts.items():
            counts |= {f"{split} tasks with gold": one.gold, f"{split} tasks with votes": one.votes}
        return {name: (n,) * len(self.seeds) for name, n in counts.items()}

    def write_measures_of_runs(self, csv_path: Path) -> None:
        """Write the measures of all training runs to a CSV file with one row per run, and the numbers of tasks behind them."""
        with atomic_file(csv_path) as part, part.open("w", newline="", encoding="utf-8") as file:
            rows = csv.writer(file, lineterminator="\n")
            columns = self.run_seed_and_measure_columns() | self._task_count_columns()
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
            _format_mean_and_std([one[name] for one in each if name in one], digits, len(each))
            for each in measures_of_runs_by_method.values()
        ]
    return Table(title, cells, tuple(note for note in notes if note))


def _spread_of_defined(values: Sequence[float]) -> Spread:
    """Return mean and standard deviation of the values that are not NaN, and their number `n`; NaN if there is none."""
    defined = [value for value in values if not math.isnan(value)]
    return Spread.mean_and_std_of(defined) if defined else Spread(float("nan"), float("nan"), 0)


def _format_mean_and_std(values: Sequence[float], digits: int, n_runs: int) -> str:
    """Return "mean ± std" of the defined values as text, and in how many of `n_runs` there is none; "-" without values."""
    if not values:
        return "-"
    about = _spread_of_defined(values)
    if not about.n:
        return "undefined"
    missing = f" (undefined in {n_runs - about.n} of {n_runs} runs)" if about.n < n_runs else ""
    return about.mean_plus_minus_std_text(digits) + missing


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
