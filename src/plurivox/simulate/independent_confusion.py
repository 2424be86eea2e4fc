"""Every worker has a confusion matrix of their own."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from plurivox.core.method import option
from plurivox.core.types import Floats
from plurivox.simulate._contract import Simulator
from plurivox.simulate._shared.random_confusion import draw_rows, likeliest_on_diagonal


@dataclass(frozen=True)
class IndependentConfusion(Simulator):
    """Each worker answers by an own random confusion matrix.

    Every row of a matrix is drawn from a Dirichlet distribution and its largest number swapped onto the diagonal, so that the
    true label is always the likeliest answer.

    Lefort et al. (2024), §3.2, https://doi.org/10.57750/qmaz-gr91.

    >>> crowd = IndependentConfusion(n_tasks=50, n_workers=8, n_labels=3, feedback=4).draw()
    >>> crowd.votes
    <Votes: 200 votes, 50 tasks, 8 workers, 3 labels>
    """

    takes: ClassVar[frozenset[str]] = frozenset({"matrices"})

    concentration: float = option(1.0, "evenness of the rows before the swap: low is sharp, high is even", low=1e-3)

    def matrices(self, n_labels: int, rng: np.random.Generator) -> Floats:
        return likeliest_on_diagonal(draw_rows(self.n_workers, n_labels, self.concentration, rng))
