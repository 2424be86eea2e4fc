"""Draw random confusion matrices of simulated workers."""

import numpy as np

from plurivox.core.array_types import Floats


def draw_dirichlet_confusion_matrices(
    n_workers: int, n_labels: int, concentration: float, rng: np.random.Generator
) -> Floats:
    """Return (n_workers, n_true, n_given) random confusion matrices with every row from a symmetric Dirichlet distribution."""
    return rng.dirichlet(np.full(n_labels, concentration), (n_workers, n_labels))


def swap_largest_to_diagonal(matrices: Floats) -> Floats:
    """Return a copy of the confusion matrices with the largest entry of each row swapped with the one on the diagonal."""
    best = matrices.argmax(2)
    worker, true = np.indices(best.shape)
    swapped = matrices.copy()
    swapped[worker, true, best] = matrices[worker, true, true]
    swapped[worker, true, true] = matrices[worker, true, best]
    return swapped
