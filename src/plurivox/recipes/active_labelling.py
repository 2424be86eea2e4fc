"""Recipe active-labelling: accuracy by number of votes on simulated crowds, with random and with next-best assignment."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from plurivox import aggregate, simulate
from plurivox.assign import NextBest, expected_gain
from plurivox.assign.next_best import WorkerGains
from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option, split_at_commas_outside_brackets
from plurivox.core.progress_callbacks import Progress, no_progress
from plurivox.core.recipe_tables import Table, Tables
from plurivox.core.results import Fit
from plurivox.core.votes import Votes
from plurivox.recipes._contract import DatasetReader, Recipe, read_dataset
from plurivox.simulate import EASY, HARD, Simulated

INITIAL_VOTES = 2  # per task, assigned at random before the first fit
REPORTED_SHARES = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # of the votes, at which the accuracy is reported


@dataclass(frozen=True)
class ActiveLabelling(Recipe):
    """Votes saved by active labelling: accuracy by number of votes, with random and with next-best assignment.

    Workers arrive at random, one at a time. With random assignment each task gets `feedback` votes of different workers.
    With `next-best` every task first gets two votes; then the arriving worker gets the task with the highest expected
    information gain, or is dismissed if the gain is too low. Both are aggregated by the same method. The posterior of a
    task is updated after each vote, and the method is refitted every `refit` votes. Called ask-next before version 0.2.
    """

    former_names: ClassVar[tuple[str, ...]] = ("ask-next",)

    crowds: str = option(
        "independent-confusion,hammer-spammer,discrete-difficulty", "crowds, see plurivox methods simulate"
    )
    method: str = option("ibcc", "aggregation method that estimates the confusion matrices of workers")
    n_tasks: int = option(1000, "number of tasks of each simulated crowd", low=10)
    n_workers: int = option(50, "number of workers of each simulated crowd", low=2)
    n_labels: int = option(4, "number of labels to choose from", low=2)
    feedback: int = option(10, "votes per task with random assignment", low=2)
    budget: float = option(
        0.7, "number of votes for next-best assignment, as a share of the votes for random assignment", low=0.2, high=1
    )
    share: float = option(
        0.6,
        "dismiss a worker whose expected gain is below this share of the gain of the best tenth of workers",
        low=0,
        high=1,
    )
    refit: int = option(250, "number of votes after which the aggregation method is fitted again", low=1)
    runs: int = option(20, "number of runs, with the seeds seed, seed + 1, ...", low=1)
    seed: int = option(0, "seed of the first run", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget * self.feedback < INITIAL_VOTES:
            raise OptionError(
                f"{self.name()}: every task first gets {INITIAL_VOTES} votes, but the budget is only {self.budget:g} x "
                f"{self.feedback} votes per task"
            )

    def run(self, *, read: DatasetReader = read_dataset, progress: Progress = no_progress) -> Tables:
        """Simulate every crowd with every seed, label it by random and next-best assignment, return tables of accuracy."""
        del read
        crowds, tables = split_at_commas_outside_brackets(self.crowds), []
        for i, crowd in enumerate(crowds):
            curves = []
            for run in range(self.runs):
                curves.append(self.simulate_random_and_next_best_labelling(crowd, self.seed + run))
                progress(i * self.runs + run, len(crowds) * self.runs)
            tables.append(self._next_best_and_random_accuracy_table(crowd, curves))
        seeds = "one seed" if self.runs == 1 else f"mean over {self.runs} seeds"
        title = f"Accuracy by number of votes, {seeds}; random assignment: {self.feedback} votes per task"
        return Tables(title, tuple(tables), self.spec)

    def simulate_random_and_next_best_labelling(self, crowd_spec: str, seed: int) -> "LabellingCurve":
        """Simulate one crowd and return its accuracies with random and with next-best assignment."""
        sizes = {name: getattr(self, name) for name in ("n_tasks", "n_workers", "n_labels", "feedback")}
        crowd = simulate.methods.make(crowd_spec, **sizes, seed=seed).draw()
        method = aggregate.methods.make(self.method)
        curve = LabellingCurve(_accuracy_of_fit(method.fit(crowd.votes), crowd))
        for n_votes, fit in _simulate_next_best_yield_n_votes_and_fit(
            self, method, crowd, np.random.default_rng([seed, 1])
        ):
            curve.next_best[n_votes] = _accuracy_of_fit(fit, crowd)
        return curve

    def _next_best_and_random_accuracy_table(self, title: str, curve_of_each_seed: "list[LabellingCurve]") -> Table:
        """Return the table of accuracies of one crowd by share of the votes used: next-best, random, difference over seeds."""
        total = self.n_tasks * self.feedback
        least = INITIAL_VOTES / self.feedback
        shares = [share for share in REPORTED_SHARES if least - 1e-9 <= share < self.budget - 1e-9] + [self.budget]
        # (runs, shares)
        accuracy = np.array(
            [[curve.accuracy_of_last_fit_within(share * total) for share in shares] for curve in curve_of_each_seed]
        )
        random = np.array([curve.random for curve in curve_of_each_seed])
        difference = accuracy - random[:, None]
        columns = {
            "share of the votes": shares,
            "next-best": accuracy.mean(0),
            "random, all votes": np.full(len(shares), random.mean()),
            "difference": difference.mean(0),
            "std of the difference": difference.std(0, ddof=1)
            if len(curve_of_each_seed) > 1
            else np.full(len(shares), np.nan),
            "votes used": [
                float(np.mean([curve.n_votes_of_last_fit_within(share * total) for curve in curve_of_each_seed]))
                for share in shares
            ],
        }
        return Table(title, columns)


@dataclass
class LabellingCurve:
    """Accuracies in one simulated study: one with random assignment, and one per number of votes with next-best assignment."""

    random: float
    next_best: dict[int, float] = field(default_factory=dict)  # number of votes -> accuracy

    def n_votes_of_last_fit_within(self, max_votes: float) -> int:
        """Return how many votes the last fit made with at most `max_votes` votes had; 0 if there was none."""
        return max((n for n in self.next_best if n <= max_votes + 1e-9), default=0)

    def accuracy_of_last_fit_within(self, max_votes: float) -> float:
        """Return the accuracy of the last fit made with at most `max_votes` next-best votes; NaN if there was none."""
        return self.next_best.get(self.n_votes_of_last_fit_within(max_votes), float("nan"))


@dataclass
class StudyState:
    """State of a simulated labelling study: posterior of the tasks, votes so far, and which worker labelled which task."""

    posterior: Floats  # (n_tasks, n_labels)
    labelled: Bools  # (n_tasks, n_workers)
    rows: list[tuple[int, int, int]] = field(default_factory=list)  # task, worker, label
    gains: WorkerGains | None = None  # set by the first fit

    def votes_given_so_far(self, crowd: Simulated) -> Votes:
        """Return the votes given so far in the simulated study, with the task, worker and label names of the crowd."""
        task, worker, label = np.array(self.rows).T
        names = crowd.votes
        return Votes.coded(
            task=task, worker=worker, label=label, tasks=names.tasks, workers=names.workers, labels=names.labels
        )


def _simulate_next_best_yield_n_votes_and_fit(
    plan: ActiveLabelling, method: aggregate.Aggregator, crowd: Simulated, rng: np.random.Generator
) -> Iterator[tuple[int, Fit]]:
    """Simulate next-best assignment until the budget is used or no vote pays; yield (number of votes, fit) at every refit."""
    n, k, w = plan.n_tasks, plan.n_labels, plan.n_workers
    state, assigner = StudyState(np.full((n, k), 1 / k), np.zeros((n, w), bool)), NextBest(share=plan.share)
    matrices, true = crowd.confusion.dense(), crowd.truth.most_probable_label_codes()
    n_idle, n_initial, max_votes = 0, INITIAL_VOTES * n, int(plan.budget * n * plan.feedback + 1e-9)
    while len(state.rows) < max_votes and n_idle <= 3 * w:
        worker = int(rng.integers(w))
        task = _choose_task_for_worker(state, assigner, worker, rng)
        n_idle = 0 if task is not None else n_idle + 1
        if task is None:
            continue
        label = _draw_label_of_worker(crowd, matrices, true, worker, task, rng)
        state.labelled[task, worker] = True
        state.rows.append((task, worker, label))
        if state.gains is not None:
            state.posterior[task] *= state.gains.confusion[worker][:, label]
            state.posterior[task] /= state.posterior[task].sum()
        n_votes = len(state.rows)
        if n_votes >= n_initial and (n_votes % plan.refit == 0 or n_votes in (n_initial, max_votes)):
            yield n_votes, _refit_and_update_state(state, assigner, method, crowd)
    if len(state.rows) < max_votes and state.rows:
        yield len(state.rows), _refit_and_update_state(state, assigner, method, crowd)


def _refit_and_update_state(
    state: StudyState, assigner: NextBest, method: aggregate.Aggregator, crowd: Simulated
) -> Fit:
    """Fit the method to the votes so far, update the posterior and the gains of `state` in place, and return the fit."""
    votes = state.votes_given_so_far(crowd)
    fit = method.fit(votes)
    if fit.confusion is None:
        raise InputError(
            f"{method.name()} estimates no confusion matrices, which next-best needs; use ibcc or dawid-skene"
        )
    state.posterior = np.array(fit.soft.prob, np.float64)
    n_votes = state.labelled.sum(0).astype(np.float64)
    state.gains = assigner.estimate_worker_gains_and_worth_asking(state.posterior, fit.confusion.dense(), n_votes)
    return fit


def _choose_task_for_worker(state: StudyState, assigner: NextBest, worker: int, rng: np.random.Generator) -> int | None:
    """Return the task that this worker labels next by next-best assignment; None if the worker is dismissed."""
    open_tasks = ~state.labelled[:, worker]
    if not open_tasks.any():
        return None
    if state.gains is None:  # before the first fit: a task with the fewest votes, at random
        n_votes = state.labelled.sum(1) + rng.random(len(open_tasks))
        return int(np.where(open_tasks, n_votes, np.inf).argmin())
    if not state.gains.worth_asking[worker]:
        return None
    gain = np.where(open_tasks, expected_gain(state.posterior, state.gains.confusion[worker]), 0)
    best = int(gain.argmax())
    return best if gain[best] >= assigner.least else None


def _draw_label_of_worker(
    crowd: Simulated, confusion_matrices: Floats, true_labels: Ints, worker: int, task: int, rng: np.random.Generator
) -> int:
    """Return a random label of a worker for a task: true if the task is easy, else by the worker's confusion matrix."""
    level = HARD if crowd.level is None else int(crowd.level[task])
    if level == EASY:
        return int(true_labels[task])
    k = confusion_matrices.shape[1]
    return (
        int(rng.choice(k, p=confusion_matrices[worker, true_labels[task]])) if level == HARD else int(rng.integers(k))
    )


def _accuracy_of_fit(fit: Fit, crowd: Simulated) -> float:
    """Return the share of tasks whose most probable label in the fit is the true label of the simulated crowd."""
    return float((fit.soft.most_probable_label_codes() == crowd.truth.most_probable_label_codes()).mean())
