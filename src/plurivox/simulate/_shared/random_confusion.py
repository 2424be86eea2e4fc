"""Confusion matrices drawn by chance."""

import numpy as np

from plurivox.core.types import Floats


def draw_rows(n_workers: int, n_labels: int, concentration: float, rng: np.random.Generator) -> Floats:
    """[worker, true, said] with every row from a Dirichlet distribution."""
    return rng.dirichlet(np.full(n_labels, concentration), (n_workers, n_labels))


def likeliest_on_diagonal(rows: Floats) -> Floats:
    """[worker, true, said] with the largest number of each row swapped with the one on the diagonal."""
    best = rows.argmax(2)
    worker, true = np.indices(best.shape)
    swapped = rows.copy()
    swapped[worker, true, best] = rows[worker, true, true]
    swapped[worker, true, true] = rows[worker, true, best]
    return swapped
