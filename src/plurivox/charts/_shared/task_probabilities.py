"""Probabilities of the labels of a few tasks by several methods, with their intervals."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from plurivox.charts._shared.share_intervals import intervals_of_probabilities
from plurivox.core.array_types import Bools, Floats, Ints, Names
from plurivox.core.name_encoding import as_names, positions
from plurivox.core.results import Fit
from plurivox.core.soft_labels import SoftLabels

MAX_LABELS = 4  # of one task
LEAST = 0.02  # labels with less by every method are left out


@dataclass(frozen=True)
class TaskProbabilities:
    """Probabilities of labels of a few tasks; NaN for a method without the task, or without intervals."""

    tasks: Names  # (n_tasks,)
    labels: Names  # (n_labels,) of all methods
    methods: tuple[str, ...]
    p: Floats  # (n_methods, n_tasks, n_labels)
    shown: tuple[Ints, ...]  # the labels of each task that are worth showing, most probable first
    rows: Ints  # (n_methods, n_tasks) row of each task in the soft labels of each method; -1: none

    @property
    def is_binary(self) -> bool:
        """Whether there are two labels, so that the probability of one says all."""
        return len(self.labels) == 2

    def intervals(self, method: int, task: int, fit: Fit | None) -> tuple[Floats, Floats]:
        """Return (low, high), each (n_shown,), of the 95% intervals of the labels shown of a task; NaN without a fit."""
        p = self.p[method, task, self.shown[task]]
        row = int(self.rows[method, task])
        if fit is None or row < 0:
            return np.full(len(p), np.nan), np.full(len(p), np.nan)
        return intervals_of_probabilities(fit, p, np.full(len(p), row))


def task_probabilities(tasks: Names, soft: Mapping[str, SoftLabels]) -> TaskProbabilities:
    """Return the probabilities of the tasks with these names; the labels of a task shown are at most the four most probable.

    Of two labels, the second is shown.
    """
    names: list[object] = []
    for one in soft.values():
        fresh = positions(as_names(names, "labels"), one.labels) < 0 if names else np.ones(one.n_labels, bool)
        names += one.labels[fresh].tolist()
    labels = as_names(names, "labels")
    rows = np.array([positions(one.tasks, tasks) for one in soft.values()]).reshape(len(soft), len(tasks))
    p = np.full((len(soft), len(tasks), len(labels)), np.nan)
    for method, one in enumerate(soft.values()):
        there: Bools = rows[method] >= 0
        block = np.zeros((int(there.sum()), len(labels)))
        block[:, positions(labels, one.labels)] = one.body.take(rows[method][there]).dense_block(slice(None))
        p[method, there] = block
    best = np.nan_to_num(p).max(0, initial=0)
    shown = tuple(np.array([1]) if len(labels) == 2 else _labels_worth_showing(row) for row in best)
    return TaskProbabilities(tasks, labels, tuple(soft), p, shown, rows)


def _labels_worth_showing(best: Floats) -> Ints:
    """Return the codes of at most four labels with 2% or more, most probable first; at least one, if there are labels."""
    order = np.argsort(-best, kind="stable")[:MAX_LABELS]
    return order[(best[order] >= LEAST) | (np.arange(len(order)) == 0)]
