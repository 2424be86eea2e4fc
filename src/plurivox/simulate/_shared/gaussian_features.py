"""Features for tasks: clusters of points by true label, so that classifiers can be trained."""

import numpy as np
from scipy.spatial.distance import pdist

from plurivox.core.types import Floats, Ints


def draw_features(true: Ints, n_labels: int, size: int, separation: float, chance: np.random.Generator) -> Floats:
    """(n_tasks, size) points with the standard deviation 1 around the centre of their label.

    Centres are random; the mean distance between two of them is `separation`.
    """
    centres = chance.standard_normal((n_labels, size))
    centres *= separation / pdist(centres).mean()
    x = chance.standard_normal((len(true), size), dtype=np.float32)
    x += centres.astype(np.float32)[true]
    return x
