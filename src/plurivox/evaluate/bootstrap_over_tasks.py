"""Bootstrap over tasks, with measures expressed as functions of sums over tasks: a resample is one matrix product.

A mean needs the sum of one number per task; an F1 sums of three numbers per label; a correlation sums of five.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.array_types import Floats, Ints

MAX_GROUPS = 20_000  # more tasks than this are assigned to random groups, and groups are resampled
MAX_GROUPS_OF_WIDE_TABLE = 5_000  # the same where every task has hundreds of numbers
MAX_CELLS = 2**22  # numbers in memory at a time

Contribution = tuple[Any, Any, Any]  # (task, column, number) arrays that broadcast together


@dataclass(frozen=True)
class TaskSums:
    """A measure that is a function of sums over tasks: the numbers of each task, and the function `finish` of their sums."""

    n_tasks: int
    width: int  # numbers per task
    contributions: Callable[[], Iterable[Contribution]]
    finish: Callable[[Floats, Floats], Floats]  # (sums (n, width), number of tasks (n,)) -> measures (n,)

    @property
    def measure_over_all_tasks(self) -> float:
        """The value of the measure over all tasks, without resampling."""
        sums = self.sum_task_numbers_by_group(np.zeros(self.n_tasks, np.int64), 1)
        return float(self.finish(sums, np.array([float(self.n_tasks)]))[0])

    def sum_task_numbers_by_group(self, group: Ints, n_groups: int) -> Floats:
        """Return (n_groups, width) the numbers of tasks summed by group; `group` (n_tasks,) is the group of each task."""
        total = np.zeros(n_groups * self.width)
        for task, column, number in self.contributions():
            key, weight = np.broadcast_arrays(group[task] * self.width + column, number)
            if key.size > len(total):
                total += np.bincount(key.ravel(), weight.ravel(), minlength=len(total))
            else:
                np.add.at(total, key.ravel(), weight.ravel())
        return total.reshape(n_groups, self.width)


def mean_as_task_sums(values: Floats) -> TaskSums:
    """Return the measure `mean of values (n_tasks,)` as TaskSums, a function of sums over tasks."""
    return TaskSums(len(values), 1, lambda: [(np.arange(len(values)), 0, values)], lambda sums, n: sums[:, 0] / n)


def mean_of_column_ratios_of_halves(sums: Floats, _: Floats) -> Floats:
    """Return (n,) the mean over k of sums[:, k] / sums[:, K + k] for sums (n, 2 K); ratios with denominator 0 are left out."""
    above, below = np.split(sums, 2, axis=1)
    positive = below > 0
    return np.divide(above, below, out=np.zeros_like(above), where=positive).sum(1) / positive.sum(1)


def ratio_of_totals_of_halves(sums: Floats, _: Floats) -> Floats:
    """Return (n,) the total of the first K columns of sums (n, 2 K) divided by the total of the last K columns."""
    above, below = np.split(sums, 2, axis=1)
    return above.sum(1) / below.sum(1)


def resample_measures(all_sums: Sequence[TaskSums], *, repeats: int, seed: int = 0, fraction: float = 1.0) -> Floats:
    """Return (repeats, n_measures) bootstrap values of measures: tasks are drawn with replacement, equally for all measures.

    All measures have the same tasks. With more than `MAX_GROUPS` tasks (fewer if a task has many numbers) random groups of
    tasks are drawn instead: sums of random groups vary as sums of tasks do.
    """
    found = np.empty((repeats, len(all_sums)))
    groups = [_n_random_task_groups_to_draw(task_sums) for task_sums in all_sums]
    for n_groups in sorted(set(groups)):
        chosen = [i for i, own in enumerate(groups) if own == n_groups]
        found[:, chosen] = _resample_measures_by_groups(
            [all_sums[i] for i in chosen], n_groups, repeats, seed, fraction
        )
    return found


def percentile_interval(
    value: float, resampled: Floats, *, level: float = 0.95, biased: bool = False
) -> tuple[float, float]:
    """Return the percentile interval of a measure with this value from its resampled values; NaN if none is finite.

    If resampling is `biased`, since it adds noise to a sum of absolute values, the interval is shifted down by that bias.

    >>> percentile_interval(2.0, np.array([1.0, 2.0, 3.0]), level=0.5)
    (1.5, 2.5)
    """
    finite = resampled[np.isfinite(resampled)]
    if not len(finite):
        return float("nan"), float("nan")
    ends = np.quantile(finite, [(1 - level) / 2, (1 + level) / 2])
    low, high = np.maximum(ends - (finite.mean() - value), 0) if biased else ends
    return float(low), float(high)


def resample_sums(numbers: Floats, *, repeats: int, seed: int = 0) -> Floats:
    """Return (repeats, width) sums over tasks drawn with replacement, of a table (n_tasks, width) of numbers per task.

    With more than `MAX_GROUPS_OF_WIDE_TABLE` tasks random groups of tasks are drawn, as in `resample_measures`.

    >>> resample_sums(np.ones((5, 2)), repeats=3).tolist()
    [[5.0, 5.0], [5.0, 5.0], [5.0, 5.0]]
    """
    rng, n_tasks = np.random.default_rng(seed), len(numbers)
    n_groups = min(n_tasks, MAX_GROUPS_OF_WIDE_TABLE)
    order = rng.permutation(n_tasks) if n_groups < n_tasks else np.arange(n_tasks)
    sums = np.add.reduceat(numbers[order], np.arange(n_groups) * n_tasks // n_groups)
    found = np.empty((repeats, numbers.shape[1]))
    for rows, times in _draw_resample_slices_and_group_counts(rng, n_groups, n_groups, repeats):
        found[rows] = times @ sums
    return found


def _n_random_task_groups_to_draw(task_sums: TaskSums) -> int:
    """Return the number of groups of tasks that are drawn in a bootstrap: one per task, fewer if there are many tasks."""
    return min(task_sums.n_tasks, MAX_GROUPS, max(MAX_CELLS // task_sums.width, 200))


def _resample_measures_by_groups(
    all_sums: Sequence[TaskSums], n_groups: int, repeats: int, seed: int, fraction: float
) -> Floats:
    """Return (repeats, n_measures) bootstrap values of measures: random groups of tasks are drawn with replacement."""
    rng, n_tasks = np.random.default_rng(seed), all_sums[0].n_tasks
    group = np.arange(n_tasks) if n_groups == n_tasks else rng.permutation(n_tasks) % n_groups
    sizes = np.bincount(group, minlength=n_groups).astype(np.float64)
    numbers = [task_sums.sum_task_numbers_by_group(group, n_groups) for task_sums in all_sums]
    drawn = max(round(fraction * n_groups), 1)
    found = np.empty((repeats, len(all_sums)))
    for rows, times in _draw_resample_slices_and_group_counts(rng, n_groups, drawn, repeats):
        n = times @ sizes
        for i, task_sums in enumerate(all_sums):
            found[rows, i] = task_sums.finish(times @ numbers[i], n)
    return found


def _draw_resample_slices_and_group_counts(
    rng: np.random.Generator, n_groups: int, n_draws: int, repeats: int
) -> Iterator[tuple[slice, Floats]]:
    """Yield (slice of resamples, (n_resamples, n_groups) how often each group is drawn in them), block by block."""
    size = max(MAX_CELLS // n_groups, 1)
    for begin in range(0, repeats, size):
        rows = slice(begin, min(begin + size, repeats))
        draw = rng.integers(0, n_groups, (rows.stop - rows.start, n_draws))
        draw += n_groups * np.arange(len(draw))[:, None]
        yield (
            rows,
            np.bincount(draw.ravel(), minlength=n_groups * len(draw)).reshape(len(draw), n_groups).astype(np.float64),
        )
