"""Every worker has a confusion matrix of their own."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.method import option
from plurivox.core.names import Floats
from plurivox.simulate._contract import Simulator


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

    concentration: float = option(1.0, "evenness of the rows before the swap: low is sharp, high is even", low=1e-3)

    def matrices(self, n_labels: int, chance: np.random.Generator) -> Floats:
        rows = chance.dirichlet(np.full(n_labels, self.concentration), (self.n_workers, n_labels))
        return likeliest_on_diagonal(rows)


def likeliest_on_diagonal(rows: Floats) -> Floats:
    """[worker, true, said] with the largest number of each row swapped with the one on the diagonal."""
    best = rows.argmax(2)
    worker, true = np.indices(best.shape)
    swapped = rows.copy()
    swapped[worker, true, best] = rows[worker, true, true]
    swapped[worker, true, true] = rows[worker, true, best]
    return swapped
