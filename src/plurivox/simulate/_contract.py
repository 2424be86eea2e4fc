"""What every simulation is, and what it gives back."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from plurivox.core.errors import InputError, OptionError
from plurivox.core.labels import SoftLabels
from plurivox.core.method import Method, option
from plurivox.core.names import Floats, Ints, Names, as_names
from plurivox.core.registry import Methods
from plurivox.core.results import Confusion
from plurivox.core.votes import Votes
from plurivox.simulate._draw import EASY, HARD, LEVELS, Asked, all_at_once, one_by_one

__all__ = ["EASY", "HARD", "LEVELS", "Simulated", "Simulator", "methods"]


@dataclass(frozen=True)
class Simulated:
    """A crowd with known truth: its votes, the true labels, how each worker answers, how hard each task is."""

    votes: Votes
    truth: SoftLabels
    confusion: Confusion
    made_by: str
    level: Ints | None = None  # (n_tasks,) 0 easy, 1 hard, 2 random; None: tasks do not differ


@dataclass(frozen=True)
class Simulator(Method, ABC):
    """A crowd drawn by chance; each task is answered by `feedback` different workers."""

    takes: ClassVar[frozenset[str]] = frozenset()

    n_tasks: int = option(200, "how many tasks", low=1)
    n_workers: int = option(30, "how many workers", low=1)
    n_labels: int = option(5, "how many labels", low=2)
    feedback: int = option(10, "votes per task, each by another worker", low=1)
    workload: int | None = option(None, "tasks a worker answers at most", low=1)
    imbalance_votes: bool = option(False, "each task gets 1 to `feedback` votes, evenly at random")
    order: Literal["whole", "peerannot"] = option(
        "whole", "draw whole columns at once, or vote by vote as peerannot does"
    )
    seed: int = option(0, "same seed, same crowd", low=0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feedback > self.n_workers:
            raise OptionError(
                f"{self.name()}: feedback of {self.feedback} needs as many workers; there are {self.n_workers}"
            )

    def draw(self, truth: SoftLabels | None = None) -> Simulated:
        """Draw the crowd and its votes. `truth` gives tasks and true labels, instead of drawing them evenly."""
        chance = np.random.default_rng(self.seed)
        true, tasks, labels = self._truth(truth, chance)
        self._check_workload(len(tasks))
        level = self.levels(len(tasks), chance)
        matrices = self.matrices(len(labels), chance)
        workers = _numbered("worker", self.n_workers)
        asked = Asked(len(tasks), self.n_workers, self.feedback, self.workload, self.imbalance_votes)
        drawn = one_by_one if self.order == "peerannot" else all_at_once
        task, worker, label = drawn(asked, matrices, true, level, chance)
        votes = Votes.coded(task=task, worker=worker, label=label, tasks=tasks, workers=workers, labels=labels)
        gold = SoftLabels.one_hot(true, tasks, labels)
        return Simulated(votes, gold, Confusion(matrices, workers, labels), self.word, level)

    def levels(self, n_tasks: int, chance: np.random.Generator) -> Ints | None:
        """(n_tasks,) how hard each task is, where tasks differ."""
        del n_tasks, chance
        return None

    @abstractmethod
    def matrices(self, n_labels: int, chance: np.random.Generator) -> Floats:
        """(n_workers, n_labels, n_labels) how each worker answers: [worker, true, said]."""

    def share(self, ratio: float) -> int:
        """How many workers a share of them is, rounded down."""
        return int(ratio * self.n_workers + 1e-9)

    def _check_workload(self, n_tasks: int) -> None:
        needed = n_tasks * (1 if self.imbalance_votes else self.feedback)
        if self.workload is not None and self.workload * self.n_workers < needed:
            raise OptionError(
                f"{self.name()}: {n_tasks} tasks need {needed} votes; {self.n_workers} workers with a workload of "
                f"{self.workload} give {self.workload * self.n_workers}"
            )

    def _truth(self, truth: SoftLabels | None, chance: np.random.Generator) -> tuple[Ints, Names, Names]:
        if truth is None:
            true = chance.integers(0, self.n_labels, self.n_tasks)
            return true, _numbered("task", self.n_tasks), _numbered("label", self.n_labels)
        if truth.n_labels < 2:
            raise InputError(f"a simulated crowd needs at least two labels; the truth has {truth.n_labels}")
        return truth.codes(), truth.tasks, truth.labels


def _numbered(word: str, n: int) -> Names:
    """`task-007`: names that sort as they count."""
    digits = len(str(n - 1))
    return as_names([f"{word}-{i:0{digits}d}" for i in range(n)])


methods: Methods[Simulator] = Methods(__package__, Simulator)
