"""Whether two tables of soft labels name different labels first; labels with equal probability are not different."""

import numpy as np

from plurivox.core.array_types import Bools, Ints
from plurivox.core.soft_labels import SoftLabels

TIE = 1e-6  # probabilities that differ by less are equal


def names_another_label(first: SoftLabels, second: SoftLabels) -> Bools:
    """(n_tasks,) whether the most probable label of each is less probable than the top in the other; same tasks and labels.

    >>> tied, sure = (SoftLabels.of([p], ["a"], ["no", "yes"]) for p in ([0.5, 0.5], [0.1, 0.9]))
    >>> names_another_label(tied, sure), names_another_label(sure, SoftLabels.of([[0.6, 0.4]], ["a"], ["no", "yes"]))
    (array([False]), array([ True]))
    """
    return _is_below_top(first, second.most_probable_label_codes()) & _is_below_top(
        second, first.most_probable_label_codes()
    )


def _is_below_top(soft: SoftLabels, labels: Ints) -> Bools:
    """(n_tasks,) whether a label per task has less probability than the most probable one."""
    return np.asarray(soft.at(labels) < soft.confidence - TIE)
