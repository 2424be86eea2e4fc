"""Intervals: Wilson's for shares, and the bootstrap over tasks for everything else."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from plurivox.core.progress import Progress
from plurivox.core.types import Floats, Ints

WIDE = 1.959964  # 95% of a normal distribution lie within so many standard deviations
TAILS = (2.5, 97.5)  # percentiles
CELLS = 2**22  # numbers drawn at a time
RESAMPLES_HELP = "how often the tasks are drawn again for a 95% interval; 0: no interval"


def wilson(hits: Floats, n: Floats) -> tuple[Floats, Floats]:
    """The 95% interval of a share hits / n, each (n,); from 0 to 1 where n is 0.

    Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953

    >>> low, high = wilson(np.array([9.0]), np.array([10.0]))
    >>> low.round(3), high.round(3)
    (array([0.596]), array([0.982]))
    """
    grown = n + WIDE**2
    middle = (hits + WIDE**2 / 2) / grown
    reach = WIDE * np.sqrt(np.maximum(hits * (n - hits) / np.maximum(n, 1e-300) + WIDE**2 / 4, 0)) / grown
    return np.clip(middle - reach, 0, 1), np.clip(middle + reach, 0, 1)


def redrawn(times: Ints, resamples: int, seed: int, progress: Progress) -> Iterator[Floats]:
    """Blocks (some, n_kinds) of how often each kind of task came when all tasks were drawn again with replacement.

    `times` (n_kinds,) says how many tasks there are of each kind. Tasks that are alike need no drawing one by one: how
    many of each kind come is multinomial.
    """
    rng, n, kinds = np.random.default_rng(seed), int(times.sum()), len(times)
    size = max(CELLS // max(kinds, 1), 1)
    for begin in range(0, resamples, size):
        some = min(size, resamples - begin)
        if kinds < n // 2:
            drawn: NDArray[np.float64] = rng.multinomial(n, times / n, some).astype(np.float64)
        else:
            kind = np.repeat(np.arange(kinds), times)
            drawn = np.empty((some, kinds))
            for row in drawn:
                row[:] = np.bincount(kind[rng.integers(0, n, n)], minlength=kinds)
        yield drawn
        progress(begin + some, resamples)


def spread(values: Floats) -> tuple[Floats, Floats]:
    """The 2.5th and 97.5th percentile of (n_resamples, n) values; nan where a column never had a value."""
    known = ~np.isnan(values).all(0)
    low, high = np.full((2, values.shape[1]), np.nan)
    if known.any():
        low[known], high[known] = np.nanpercentile(values[:, known], TAILS, axis=0)
    return low, high


def worker_spread(
    task: Ints, n_tasks: int, resamples: int, seed: int, progress: Progress, value: Callable[[Floats], Floats]
) -> tuple[Floats, Floats] | tuple[None, None]:
    """The interval of `value(weights)` when tasks are drawn again; `task` (n,) says of which task each weight is."""
    if not resamples:
        return None, None
    drawn = redrawn(np.ones(n_tasks, np.int64), resamples, seed, progress)
    return spread(np.array([value(weights[task]) for block in drawn for weights in block]))
