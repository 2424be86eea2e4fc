"""95% intervals: Wilson's for shares, and the bootstrap over tasks for other scores."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from plurivox.core.array_types import Floats, Ints
from plurivox.core.progress_callbacks import Progress
from plurivox.identify._shared.group_sums import divide_or_nan

Z_95 = 1.959964  # 95% of a normal distribution is within this many standard deviations of its mean
PERCENTILES = (2.5, 97.5)
MAX_CELLS = 2**22  # size of a block of resamples
RESAMPLES_HELP = "bootstrap resamples of the tasks for a 95% interval; 0: no interval"


def wilson_interval_95(n_hits: Floats, n_trials: Floats) -> tuple[Floats, Floats]:
    """Return (low, high) of Wilson's 95% interval of the shares n_hits / n_trials, elementwise; 0 and 1 where n_trials is 0.

    Wilson (1927), https://doi.org/10.1080/01621459.1927.10502953

    >>> low, high = wilson_interval_95(np.array([9.0]), np.array([10.0]))
    >>> low.round(3), high.round(3)
    (array([0.596]), array([0.982]))
    """
    denominator = n_trials + Z_95**2
    centre = (n_hits + Z_95**2 / 2) / denominator
    half = (
        Z_95
        * np.sqrt(np.maximum(n_hits * (n_trials - n_hits) / np.maximum(n_trials, 1e-300) + Z_95**2 / 4, 0))
        / denominator
    )
    low, high = np.clip(centre - half, 0, 1), np.clip(centre + half, 0, 1)
    return np.where(n_hits > 0, low, 0.0), np.where(n_hits < n_trials, high, 1.0)  # exactly, not up to rounding


def bootstrap_blocks_of_pattern_counts(
    tasks_per_pattern: Ints, resamples: int, seed: int, progress: Progress
) -> Iterator[Floats]:
    """Yield blocks of bootstrap resamples of tasks: (n_resamples, n_patterns) how often tasks with each pattern are drawn.

    `tasks_per_pattern` (n_patterns,) is the number of tasks of each pattern; equal tasks share a pattern, so that one
    multinomial draw replaces many draws of single tasks.
    """
    rng, n, n_patterns = np.random.default_rng(seed), int(tasks_per_pattern.sum()), len(tasks_per_pattern)
    size = max(MAX_CELLS // max(n_patterns, 1), 1)
    for begin in range(0, resamples, size):
        n_block = min(size, resamples - begin)
        if n_patterns < n // 2:
            counts: NDArray[np.float64] = rng.multinomial(n, tasks_per_pattern / n, n_block).astype(np.float64)
        else:
            pattern = np.repeat(np.arange(n_patterns), tasks_per_pattern)
            counts = np.empty((n_block, n_patterns))
            for row in counts:
                row[:] = np.bincount(pattern[rng.integers(0, n, n)], minlength=n_patterns)
        yield counts
        progress(begin + n_block, resamples)


def percentile_interval_95(bootstrap_values: Floats) -> tuple[Floats, Floats]:
    """Return (low, high), each (n,): the 2.5th and 97.5th percentiles of bootstrap values (n_resamples, n), ignoring nan."""
    known = ~np.isnan(bootstrap_values).all(0)
    low, high = np.full((2, bootstrap_values.shape[1]), np.nan)
    if known.any():
        low[known], high[known] = np.nanpercentile(bootstrap_values[:, known], PERCENTILES, axis=0)
    return low, high


def bootstrap_interval_95_over_tasks(
    task_of_row: Ints,
    n_tasks: int,
    resamples: int,
    seed: int,
    progress: Progress,
    score_of_weights: Callable[[Floats], Floats],
    centre: Floats | None = None,
) -> tuple[Floats, Floats] | tuple[None, None]:
    """Return the 95% bootstrap interval over tasks of `score_of_weights(weights)`; (None, None) without resamples.

    `task_of_row` (n_rows,) is the task of each row; `weights` (n_rows,) is how often that task is drawn. For scores that
    resampling biases, such as means of absolute values, the resampled scores are shifted so that their mean is `centre`.
    """
    if not resamples:
        return None, None
    blocks = bootstrap_blocks_of_pattern_counts(np.ones(n_tasks, np.int64), resamples, seed, progress)
    resampled = np.array([score_of_weights(counts[task_of_row]) for block in blocks for counts in block])
    if centre is not None:
        known = ~np.isnan(resampled)
        mean = divide_or_nan(np.where(known, resampled, 0).sum(0), known.sum(0).astype(np.float64))
        resampled = resampled + (centre - mean)
    return percentile_interval_95(resampled)
