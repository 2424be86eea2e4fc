"""Compare two sets of soft labels: the tasks on which they differ most, and those with higher entropy in one of them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from plurivox.core.arguments_as_users_hold_them import takes_what_users_hold
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.data_type_base_class import DataType
from plurivox.core.name_encoding import positions
from plurivox.core.soft_labels import SoftLabels
from plurivox.evaluate.measures.hard_label_measures import TIE_TOLERANCE
from plurivox.evaluate.measures.measure_registry import MEASURES, by_task
from plurivox.evaluate.measures_that_fit_estimates import note_if_estimates_differ


@dataclass(frozen=True, eq=False, repr=False)
class Contrast(DataType):
    """Tasks on which two sets of soft labels differ, largest difference first, with the rows of both sets."""

    tasks: Names  # (n,)
    value: Floats  # (n,) the difference by which they are sorted, highest first
    left: SoftLabels  # the rows of the first set, in this order
    right: SoftLabels  # the rows of the second set, in this order
    what: str  # the name of the value: a measure, or entropy_gain
    notes: tuple[str, ...] = ()  # a note if one set estimates the truth and the other what people say

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return one row per task as columns: task, value, and for each set the top label, its probability and entropy."""
        table: dict[str, NDArray[Any]] = {"task": self.tasks, self.what: self.value}
        for side, soft in (("left", self.left), ("right", self.right)):
            table |= {f"{side}_label": soft.hard(), f"{side}_p": soft.confidence, f"{side}_entropy": soft.entropy()}
        return table

    def __len__(self) -> int:
        return len(self.tasks)

    def summary_values(self) -> dict[str, object]:
        return {"tasks": len(self.tasks), "by": self.what}


@takes_what_users_hold
def most_different(left: SoftLabels, right: SoftLabels, *, n: int = 10, measure: str = "total-variation") -> Contrast:
    """Return the n tasks on which two sets of soft labels differ most, by a measure with one value per task.

    The task with the worst value is first: the largest distance, or the lowest accuracy.

    >>> left = SoftLabels.of([[.9, .1], [.5, .5]], ["a", "b"], ["no", "yes"])
    >>> right = SoftLabels.of([[.1, .9], [.4, .6]], ["a", "b"], ["no", "yes"])
    >>> found = most_different(left, right, n=1)
    >>> found.tasks.tolist(), found.value.round(4).tolist()
    (['a'], [0.8])
    """
    tasks, value = by_task(left, right, measure)
    sign = 1 if MEASURES[measure].better == "higher" else -1
    return _contrast_of_picked_tasks(left, right, tasks, value, np.argsort(sign * value, kind="stable")[:n], measure)


@takes_what_users_hold
def softening(left: SoftLabels, right: SoftLabels, *, n: int = 10, same_label: bool = False) -> Contrast:
    """Return the n tasks whose entropy is higher in `left` than in `right`, by H(left) - H(right) in nats.

    Only tasks with a difference above 0; `same_label=True` selects those with the same most probable label in both.
    Collins et al. (2022), figures 3 and 9, https://doi.org/10.1609/hcomp.v10i1.21986

    >>> left = SoftLabels.of([[.9, .1], [.5, .5]], ["a", "b"], ["no", "yes"])
    >>> right = SoftLabels.of([[1, 0], [0, 1]], ["a", "b"], ["no", "yes"])
    >>> softening(left, right).tasks.tolist(), softening(left, right, same_label=True).tasks.tolist()
    (['b', 'a'], ['b', 'a'])
    """
    tasks = right.shared(left.tasks).tasks
    one, two = left.on(tasks), right.on(tasks)
    gain = one.entropy() - two.entropy()
    order = np.argsort(-gain, kind="stable")
    order = order[gain[order] > 0]
    if same_label:
        order = order[_top_label_of_hard_is_top_in_soft(one, two)[order]]
    return _contrast_of_picked_tasks(left, right, tasks, gain, order[:n], "entropy_gain")


def _top_label_of_hard_is_top_in_soft(soft: SoftLabels, hard: SoftLabels) -> Bools:
    """Return (n_tasks,) true if the most probable label in `hard` also has the largest probability in `soft`, alone or tied."""
    code = positions(soft.labels, hard.labels)[hard.most_probable_label_codes()]
    return (code >= 0) & (soft.at(np.maximum(code, 0)) >= soft.confidence - TIE_TOLERANCE)


def _contrast_of_picked_tasks(
    left: SoftLabels, right: SoftLabels, tasks: Names, value_of_task: Floats, picked_positions: Ints, value_name: str
) -> Contrast:
    """Return the Contrast of `tasks[picked_positions]`: their names, values, and rows in both sets of soft labels."""
    picked = tasks[picked_positions]
    notes = note_if_estimates_differ(left.estimates, right.estimates)
    return Contrast(picked, value_of_task[picked_positions], left.on(picked), right.on(picked), value_name, notes)
