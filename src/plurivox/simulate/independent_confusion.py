"""Simulate workers with independent random confusion matrices."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.method import option
from plurivox.simulate._contract import Simulator
from plurivox.simulate._shared.random_confusion_matrices import (
    draw_dirichlet_confusion_matrices,
    swap_largest_to_diagonal,
)


@dataclass(frozen=True)
class IndependentConfusion(Simulator):
    """Each worker answers by an independent random confusion matrix.

    Every row of a matrix is drawn from a Dirichlet distribution and its largest entry swapped onto the diagonal, so that the
    true label is always the most probable answer.

    Lefort et al. (2024), §3.2, https://doi.org/10.57750/qmaz-gr91.

    >>> crowd = IndependentConfusion(n_tasks=50, n_workers=8, n_labels=3, feedback=4).draw()
    >>> crowd.votes
    <Votes: 200 votes, 50 tasks, 8 workers, 3 labels>
    """

    takes: ClassVar[frozenset[str]] = frozenset({"matrices"})

    concentration: float = option(
        1.0, "concentration of the Dirichlet distribution: low gives peaked rows, high uniform ones", low=1e-3
    )

    def make_confusion_matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        return swap_largest_to_diagonal(
            draw_dirichlet_confusion_matrices(self.n_workers, n_labels, self.concentration, rng)
        )
