"""Whether a guess is unsure where the truth is: measures of the entropies of both.

Entropies are divided by log K, so that they run from 0 to 1 whatever the number K of labels.
"""

import numpy as np

from plurivox.core.soft_labels import SoftLabels
from plurivox.core.soft_storage import Dense, Rows
from plurivox.core.types import Floats
from plurivox.evaluate.alignment import meet, parts

FLAT = 1e-9  # entropies that vary less than this do not vary


def entropy_correlation(guess: SoftLabels, truth: SoftLabels) -> float:
    """One Pearson r over all tasks, between the normalised entropies H(q) / log K and H(p) / log K.

    nan where either side has the same entropy on every task, as gold labels have.
    Uma et al. (2020), section 4, https://doi.org/10.1609/hcomp.v8i1.7478

    >>> guess = SoftLabels.of([[.5, .5], [.9, .1], [.8, .2]], "abc", ["no", "yes"])
    >>> truth = SoftLabels.of([[.6, .4], [1, 0], [1, 0]], "abc", ["no", "yes"])
    >>> round(entropy_correlation(guess, truth), 4)
    0.8794
    """
    x, y = (side - side.mean() for side in normalised_entropies(*meet(guess, truth)))
    return _cosine(x, y)


def entropy_similarity(guess: SoftLabels, truth: SoftLabels) -> float:
    """The cosine between the normalised entropies of all tasks, 0 to 1; nan where one side is sure everywhere.

    Uma et al. (2021), section 5, https://doi.org/10.1613/jair.1.12752

    >>> guess = SoftLabels.of([[.5, .5], [.9, .1], [.8, .2]], "abc", ["no", "yes"])
    >>> truth = SoftLabels.of([[.6, .4], [1, 0], [1, 0]], "abc", ["no", "yes"])
    >>> round(entropy_similarity(guess, truth), 4)
    0.7579
    """
    return _cosine(*normalised_entropies(*meet(guess, truth)))


def normalised_entropies(left: Rows, right: Rows) -> tuple[Floats, Floats]:
    """(n_tasks,) each: H / log K of the guess and of the truth; 0 where there is but one label."""
    top = max(float(np.log(left.n_labels)), 1e-300) if left.n_labels else 1.0
    one, two = (np.maximum(_entropies(side), 0) / top for side in (left, right))
    return one, two


def _entropies(rows: Rows) -> Floats:
    """(n_tasks,) in nats; a part of the rows at a time stays in the cache."""
    if not isinstance(rows, Dense):
        return rows.entropy()
    return np.concatenate([Dense(block).entropy() for _, block in parts(rows)])


def _cosine(x: Floats, y: Floats) -> float:
    """nan where a side is flat."""
    lengths = float(np.linalg.norm(x)), float(np.linalg.norm(y))
    return float(x @ y) / (lengths[0] * lengths[1]) if min(lengths) > FLAT * len(x) ** 0.5 else float("nan")
