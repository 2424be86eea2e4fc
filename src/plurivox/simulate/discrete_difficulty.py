"""Simulate easy and hard tasks, good and bad workers."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.method import option
from plurivox.simulate._contract import Simulator
from plurivox.simulate._shared.fatigue_drift_copying import LEVELS
from plurivox.simulate._shared.random_confusion_matrices import (
    draw_dirichlet_confusion_matrices,
    swap_largest_to_diagonal,
)


@dataclass(frozen=True)
class DiscreteDifficulty(Simulator):
    """Tasks are easy (all workers are right), hard (good workers are right more often) or random (all workers guess).

    A task is easy, hard or random with probability (1 - random) d / (1 + d), (1 - random) / (1 + d) and random, where d is
    `ratio_diff`. On hard tasks the first int(ratio * n_workers) workers, the good ones, have confusion matrices with rows from
    Dirichlet(0.2) and the largest entry on the diagonal, the others with rows from Dirichlet(5). On random tasks the labels
    are uniform.

    Whitehill et al. (2009); Lefort et al. (2024), §3.2.3, https://doi.org/10.57750/qmaz-gr91.

    >>> crowd = DiscreteDifficulty(n_tasks=50, ratio=0.4).draw()
    >>> easy = crowd.level == 0
    >>> bool((crowd.votes.label == crowd.truth.most_probable_label_codes()[crowd.votes.task])[easy[crowd.votes.task]].all())
    True
    """

    takes: ClassVar[frozenset[str]] = frozenset({"matrices"})

    ratio: float = option(
        0.5, "share of the workers who are good, that is, more often right on hard tasks", low=0, high=1
    )
    ratio_diff: float = option(1.0, "number of easy tasks per hard task", low=0)
    random: float = option(0.0, "share of the tasks on which all workers guess", low=0, high=1)

    def draw_task_difficulty_levels(self, n_tasks: int, rng: np.random.Generator) -> Ints:
        hard = (1 - self.random) / (self.ratio_diff + 1)
        return rng.choice(len(LEVELS), p=[self.ratio_diff * hard, hard, self.random], size=n_tasks)

    def make_confusion_matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        n_good = self.worker_count_of_share(self.ratio)
        good = swap_largest_to_diagonal(draw_dirichlet_confusion_matrices(n_good, n_labels, 0.2, rng))
        return np.concatenate([good, draw_dirichlet_confusion_matrices(self.n_workers - n_good, n_labels, 5.0, rng)])
