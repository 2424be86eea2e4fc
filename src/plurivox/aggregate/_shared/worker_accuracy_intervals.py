"""The 95% intervals of worker accuracies that confusion-matrix methods give, computed when they are first read."""

from collections.abc import Callable
from functools import cache

import numpy as np

from plurivox.aggregate._shared.tasks_without_gold import TasksWithoutGold
from plurivox.core.array_types import Floats
from plurivox.core.soft_labels import SoftLabels
from plurivox.core.votes import Votes
from plurivox.engine.worker_accuracy_intervals import MAX_CELLS, worker_accuracy_intervals_95

Interval = tuple[Callable[[], Floats], Callable[[], Floats]]


def accuracy_interval_when_read(
    votes: Votes, gold: SoftLabels | None, fixed_prior: Floats | None
) -> Interval | tuple[None, None]:
    """Return functions that compute (low, high) of every worker's accuracy: a fit calls them when its intervals are read.

    They are NaN if no task has votes of two workers or a gold label: then votes say nothing about accuracies. (None, None)
    for a single label, and if the confusion matrices are too large.
    """
    if votes.n_labels < 2 or votes.n_workers * votes.n_labels**2 > MAX_CELLS:
        return None, None

    @cache
    def compute() -> tuple[Floats, Floats]:
        tasks = TasksWithoutGold(votes, gold)
        if not _is_accuracy_identified(tasks):
            unknown = np.full(votes.n_workers, np.nan)
            return unknown, unknown
        em = tasks.make_confusion_em_from_votes_and_gold()
        return worker_accuracy_intervals_95(em, tasks.vote_shares_of_open_tasks(), fixed_prior)

    return (lambda: compute()[0]), (lambda: compute()[1])


def _is_accuracy_identified(tasks: TasksWithoutGold) -> bool:
    """Return whether any task has votes of two workers, or a vote and a gold label."""
    row_task = np.repeat(np.arange(len(tasks.open)), np.diff(tasks.start))
    same_task = row_task[1:] == row_task[:-1]
    if bool((same_task & (tasks.worker[1:] != tasks.worker[:-1])).any()):
        return True
    return bool((np.diff(tasks.votes.row_offsets_by_task)[tasks.gold_place] > 0).any())
