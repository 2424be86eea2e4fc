"""What choosing the next question saves: simulated crowds, asked at random and asked where it tells most."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from plurivox import aggregate, simulate
from plurivox.assign import NextBest, expected_gain
from plurivox.assign.next_best import WorkerGains
from plurivox.core.errors import InputError, OptionError
from plurivox.core.method import option, split_list
from plurivox.core.progress import Progress, no_progress
from plurivox.core.results import Fit
from plurivox.core.tables import Table, Tables
from plurivox.core.types import Bools, Floats, Ints
from plurivox.core.votes import Votes
from plurivox.recipes._contract import Reader, Recipe, from_the_shelf
from plurivox.simulate import EASY, HARD, Simulated

FIRST = 2  # votes that every task gets before anything is known of anybody
STEPS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)  # shares of the votes at which the accuracy is told


@dataclass(frozen=True)
class ActiveLabelling(Recipe):
    """What choosing the next question saves: accuracy by votes spent, asked at random and where it tells most.

    Workers arrive at random, one at a time. At random, each task gets `feedback` votes of different workers. By
    `next-best`, every task first gets two votes; then whoever arrives is asked about the task where the answer is
    expected to tell most, or let go. Both are aggregated by the same method. What we believe of a task is updated with
    each vote, the method is fitted anew every `refit` votes.
    """

    former_names: ClassVar[tuple[str, ...]] = ("ask-next",)

    crowds: str = option("independent-confusion,hammer-spammer,discrete-difficulty", "strategies of simulate")
    method: str = option("ibcc", "the aggregator; it must give confusion matrices")
    n_tasks: int = option(1000, "how many tasks", low=10)
    n_workers: int = option(50, "how many workers", low=2)
    n_labels: int = option(4, "how many labels", low=2)
    feedback: int = option(10, "votes per task when asked at random", low=2)
    budget: float = option(0.7, "share of those votes that may be spent", low=0.2, high=1)
    share: float = option(0.6, "let a worker go whose gain is below this share of the best tenth's", low=0, high=1)
    refit: int = option(250, "fit anew after so many votes", low=1)
    runs: int = option(20, "seeds", low=1)
    seed: int = option(0, "the first of them", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.budget * self.feedback < FIRST:
            raise OptionError(
                f"{self.name()}: every task first gets {FIRST} votes; a budget of {self.budget:g} x {self.feedback} a "
                "task is less"
            )

    def run(self, *, read: Reader = from_the_shelf, progress: Progress = no_progress) -> Tables:
        """Every crowd with every seed."""
        del read
        words, tables = split_list(self.crowds), []
        for i, word in enumerate(words):
            found = []
            for run in range(self.runs):
                found.append(self.one(word, self.seed + run))
                progress(i * self.runs + run, len(words) * self.runs)
            tables.append(self._table(word, found))
        seeds = "one seed" if self.runs == 1 else f"mean over {self.runs} seeds"
        title = f"Accuracy by votes spent, {seeds}; at random: {self.feedback} votes per task"
        return Tables(title, tuple(tables), self.spec)

    def one(self, word: str, seed: int) -> "Course":
        """One crowd, asked both ways."""
        sizes = {name: getattr(self, name) for name in ("n_tasks", "n_workers", "n_labels", "feedback")}
        crowd = simulate.methods.make(word, **sizes, seed=seed).draw()
        method = aggregate.methods.make(self.method)
        course = Course(_right(method.fit(crowd.votes), crowd))
        for n_votes, fit in _asked_well(self, method, crowd, np.random.default_rng([seed, 1])):
            course.right[n_votes] = _right(fit, crowd)
        return course

    def _table(self, word: str, found: "list[Course]") -> Table:
        total = self.n_tasks * self.feedback
        least = FIRST / self.feedback
        steps = [share for share in STEPS if least - 1e-9 <= share < self.budget - 1e-9] + [self.budget]
        by_step = np.array([[one.at(share * total) for share in steps] for one in found])  # (n_runs, n_steps)
        random = np.array([one.random for one in found])
        spread = by_step - random[:, None]
        columns = {
            "share of the votes": steps,
            "next-best": by_step.mean(0),
            "at random, all votes": np.full(len(steps), random.mean()),
            "difference": spread.mean(0),
            "std of the difference": spread.std(0, ddof=1) if len(found) > 1 else np.full(len(steps), np.nan),
            "votes spent": [float(np.mean([one.spent(share * total) for one in found])) for share in steps],
        }
        return Table(word, columns)


@dataclass
class Course:
    """How one simulated study went: the accuracy at random, and after so many votes asked well."""

    random: float
    right: dict[int, float] = field(default_factory=dict)  # votes spent -> accuracy

    def spent(self, n_votes: float) -> int:
        """The votes of the last fit with at most so many; 0: there was none."""
        return max((n for n in self.right if n <= n_votes + 1e-9), default=0)

    def at(self, n_votes: float) -> float:
        """The accuracy with at most so many votes."""
        return self.right.get(self.spent(n_votes), float("nan"))


@dataclass
class Board:
    """What is known while a study runs."""

    belief: Floats  # (n_tasks, n_labels)
    asked: Bools  # (n_tasks, n_workers)
    rows: list[tuple[int, int, int]] = field(default_factory=list)  # task, worker, label
    useful: WorkerGains | None = None

    def votes(self, crowd: Simulated) -> Votes:
        """The votes so far."""
        task, worker, label = np.array(self.rows).T
        names = crowd.votes
        return Votes.coded(
            task=task, worker=worker, label=label, tasks=names.tasks, workers=names.workers, labels=names.labels
        )


def _asked_well(
    plan: ActiveLabelling, method: aggregate.Aggregator, crowd: Simulated, rng: np.random.Generator
) -> Iterator[tuple[int, Fit]]:
    """Ask until the budget is spent or no answer pays; after every `refit` votes, how many there are and the fit."""
    n, k, w = plan.n_tasks, plan.n_labels, plan.n_workers
    board, way = Board(np.full((n, k), 1 / k), np.zeros((n, w), bool)), NextBest(share=plan.share)
    matrices, true = crowd.confusion.dense(), crowd.truth.codes()
    idle, first, most = 0, FIRST * n, int(plan.budget * n * plan.feedback + 1e-9)
    while len(board.rows) < most and idle <= 3 * w:
        worker = int(rng.integers(w))
        task = _choose(board, way, worker, rng)
        idle = 0 if task is not None else idle + 1
        if task is None:
            continue
        label = _answer(crowd, matrices, true, worker, task, rng)
        board.asked[task, worker] = True
        board.rows.append((task, worker, label))
        if board.useful is not None:
            board.belief[task] *= board.useful.confusion[worker][:, label]
            board.belief[task] /= board.belief[task].sum()
        spent = len(board.rows)
        if spent >= first and (spent % plan.refit == 0 or spent in (first, most)):
            yield spent, _refit(board, way, method, crowd)
    if len(board.rows) < most and board.rows:
        yield len(board.rows), _refit(board, way, method, crowd)


def _refit(board: Board, way: NextBest, method: aggregate.Aggregator, crowd: Simulated) -> Fit:
    votes = board.votes(crowd)
    fit = method.fit(votes)
    if fit.confusion is None:
        raise InputError(f"{method.name()} gives no confusion matrices, which say whom to ask; try ibcc or dawid-skene")
    board.belief = np.array(fit.soft.prob, np.float64)
    board.useful = way.worker_gains(board.belief, fit.confusion.dense(), board.asked.sum(0).astype(np.float64))
    return fit


def _choose(board: Board, way: NextBest, worker: int, rng: np.random.Generator) -> int | None:
    """The task to ask this worker about; None: let the worker go."""
    open_tasks = ~board.asked[:, worker]
    if not open_tasks.any():
        return None
    if board.useful is None:  # nothing is known of anybody yet: the tasks with fewest votes, at random among them
        n_asked = board.asked.sum(1) + rng.random(len(open_tasks))
        return int(np.where(open_tasks, n_asked, np.inf).argmin())
    if not board.useful.worth_asking[worker]:
        return None
    gain = np.where(open_tasks, expected_gain(board.belief, board.useful.confusion[worker]), 0)
    best = int(gain.argmax())
    return best if gain[best] >= way.least else None


def _answer(crowd: Simulated, matrices: Floats, true: Ints, worker: int, task: int, rng: np.random.Generator) -> int:
    level = HARD if crowd.level is None else int(crowd.level[task])
    if level == EASY:
        return int(true[task])
    k = matrices.shape[1]
    return int(rng.choice(k, p=matrices[worker, true[task]])) if level == HARD else int(rng.integers(k))


def _right(fit: Fit, crowd: Simulated) -> float:
    return float((fit.soft.codes() == crowd.truth.codes()).mean())
