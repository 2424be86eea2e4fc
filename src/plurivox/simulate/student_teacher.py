"""Simulate students who share the confusion matrix of a teacher."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.simulate._contract import Simulator
from plurivox.simulate._shared.random_confusion_matrices import (
    draw_dirichlet_confusion_matrices,
    swap_largest_to_diagonal,
)


@dataclass(frozen=True)
class StudentTeacher(Simulator):
    """Students answer by the confusion matrix of their teacher, so that their mistakes are correlated.

    Teachers, the first workers, have matrices as in independent-confusion; each of the last int(ratio * n_workers) workers is a
    student of a teacher drawn uniformly.

    Cao et al. (2019), https://doi.org/10.48550/arXiv.1905.13436; Lefort et al. (2024), §3.2.2.

    >>> crowd = StudentTeacher(n_tasks=10, n_workers=10, feedback=3, ratio=0.8).draw()
    >>> len(np.unique(crowd.confusion.matrices, axis=0))
    2
    """

    ratio: float = option(0.5, "share of the workers who are students", low=0, high=1)

    def make_confusion_matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        n_students = min(self.worker_count_of_share(self.ratio), self.n_workers - 1)
        n_teachers = self.n_workers - n_students
        teachers = swap_largest_to_diagonal(draw_dirichlet_confusion_matrices(n_teachers, n_labels, 1.0, rng))
        teacher = rng.choice(n_teachers, replace=True, size=n_students)
        return np.concatenate([teachers, teachers[teacher]])
