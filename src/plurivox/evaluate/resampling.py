"""Measures as sums over tasks, so that drawing tasks again costs one product of matrices.

A mean is the sum of one number a task; an F1 is made of sums of three numbers a label; a correlation of five.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from plurivox.core.types import Floats, Ints

MOST_GROUPS = 20_000  # more tasks than this are put into groups at random, and groups are drawn in their place
CELLS = 2**22  # numbers held at a time

Piece = tuple[Any, Any, Any]  # (task, column, number), broadcast together


@dataclass(frozen=True)
class Tally:
    """The numbers of every task, and what is made of their sums."""

    n_tasks: int
    width: int  # how many numbers a task has
    pieces: Callable[[], Iterable[Piece]]
    finish: Callable[[Floats, Floats], Floats]  # sums (n, width), numbers of tasks (n,) -> measures (n,)

    @property
    def value(self) -> float:
        """The measure of all tasks."""
        sums = self.sums(np.zeros(self.n_tasks, np.int64), 1)
        return float(self.finish(sums, np.array([float(self.n_tasks)]))[0])

    def sums(self, group: Ints, n_groups: int) -> Floats:
        """(n_groups, width) the numbers added up within groups of tasks; `group` is (n_tasks,)."""
        total = np.zeros(n_groups * self.width)
        for task, column, number in self.pieces():
            key, weight = np.broadcast_arrays(group[task] * self.width + column, number)
            if key.size > len(total):
                total += np.bincount(key.ravel(), weight.ravel(), minlength=len(total))
            else:
                np.add.at(total, key.ravel(), weight.ravel())
        return total.reshape(n_groups, self.width)


def mean(values: Floats) -> Tally:
    """The mean of one number a task."""
    return Tally(len(values), 1, lambda: [(np.arange(len(values)), 0, values)], lambda sums, n: sums[:, 0] / n)


def mean_of_ratios(sums: Floats, _: Floats) -> Floats:
    """(n,) a `finish` for sums (n, 2 x columns): the mean of the first half over the second, where that is above 0."""
    above, below = np.split(sums, 2, axis=1)
    seen = below > 0
    return np.divide(above, below, out=np.zeros_like(above), where=seen).sum(1) / seen.sum(1)


def ratio_of_totals(sums: Floats, _: Floats) -> Floats:
    """(n,) a `finish` for sums (n, 2 x columns): the total of the first half over that of the second."""
    above, below = np.split(sums, 2, axis=1)
    return above.sum(1) / below.sum(1)


def resample(tallies: Sequence[Tally], *, repeats: int, seed: int = 0, fraction: float = 1.0) -> Floats:
    """(repeats, n_tallies) the measures of tasks drawn with replacement, the same tasks for every tally.

    All tallies have the same tasks. Beyond `MOST_GROUPS` tasks (fewer where a task has many numbers) groups of tasks, made
    at random, are drawn in their place: sums of random groups vary as sums of tasks do.
    """
    found = np.empty((repeats, len(tallies)))
    groups = [_groups(tally) for tally in tallies]
    for n_groups in sorted(set(groups)):
        chosen = [i for i, own in enumerate(groups) if own == n_groups]
        found[:, chosen] = _resample([tallies[i] for i in chosen], n_groups, repeats, seed, fraction)
    return found


def _groups(tally: Tally) -> int:
    return min(tally.n_tasks, MOST_GROUPS, max(CELLS // tally.width, 200))


def _resample(tallies: Sequence[Tally], n_groups: int, repeats: int, seed: int, fraction: float) -> Floats:
    rng, n_tasks = np.random.default_rng(seed), tallies[0].n_tasks
    group = np.arange(n_tasks) if n_groups == n_tasks else rng.permutation(n_tasks) % n_groups
    sizes = np.bincount(group, minlength=n_groups).astype(np.float64)
    numbers = [tally.sums(group, n_groups) for tally in tallies]
    drawn = max(round(fraction * n_groups), 1)
    found = np.empty((repeats, len(tallies)))
    for rows, times in _draws(rng, n_groups, drawn, repeats):
        n = times @ sizes
        for i, tally in enumerate(tallies):
            found[rows, i] = tally.finish(times @ numbers[i], n)
    return found


def _draws(rng: np.random.Generator, n: int, drawn: int, repeats: int) -> Iterator[tuple[slice, Floats]]:
    """How often each of n was drawn, (some repeats, n) at a time."""
    size = max(CELLS // n, 1)
    for begin in range(0, repeats, size):
        rows = slice(begin, min(begin + size, repeats))
        draw = rng.integers(0, n, (rows.stop - rows.start, drawn))
        draw += n * np.arange(len(draw))[:, None]
        yield rows, np.bincount(draw.ravel(), minlength=n * len(draw)).reshape(len(draw), n).astype(np.float64)
