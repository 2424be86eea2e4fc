"""How sure a difference is: bootstraps over data sets, tasks or runs."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from plurivox.core.errors import InputError
from plurivox.core.names import Floats

CELLS = 2**22  # numbers drawn at a time


@dataclass(frozen=True)
class Interval:
    """A mean and the interval it lies in; the ends are nan where there is but one value."""

    mean: float
    low: float
    high: float

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        if np.isnan(self.low):
            return "unknown" if np.isnan(self.mean) else f"{self.mean:+.4f}"
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"


def bootstrap(
    values: Sequence[float] | Floats, *, repeats: int = 10_000, level: float = 0.95, seed: int = 0
) -> Interval:
    """The mean of values with its percentile bootstrap interval: values drawn again with replacement.

    Efron (1979), https://doi.org/10.1214/aos/1176344552

    >>> print(bootstrap([0.1, 0.2, 0.3, 0.4]))
    +0.2500 [+0.1500, +0.3500]
    """
    given = np.asarray(values, np.float64)
    if not len(given) or not np.isfinite(given).all():
        raise InputError(f"a bootstrap needs finite values; got {len(given)}, {int((~np.isfinite(given)).sum())} not")
    if len(given) == 1:
        return Interval(float(given[0]), float("nan"), float("nan"))
    chance, means = np.random.default_rng(seed), np.empty(repeats)
    size = max(CELLS // len(given), 1)
    for begin in range(0, repeats, size):
        part = means[begin : begin + size]
        part[:] = given[chance.integers(0, len(given), (len(part), len(given)))].mean(1)
    low, high = np.quantile(means, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(given.mean()), float(low), float(high))


def paired_bootstrap(
    left: Sequence[float] | Floats,
    right: Sequence[float] | Floats,
    *,
    repeats: int = 10_000,
    level: float = 0.95,
    seed: int = 0,
) -> Interval:
    """The mean of left - right with its bootstrap interval; pairs (data sets, tasks) are drawn whole.

    Efron and Tibshirani (1993), chapter 16, https://doi.org/10.1201/9780429246593

    >>> paired_bootstrap([0.9, 0.8, 0.7], [0.8, 0.7, 0.6]).clear
    True
    """
    one, two = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if one.shape != two.shape:
        raise InputError(f"a paired bootstrap needs pairs; got {len(one)} and {len(two)} values")
    return bootstrap(one - two, repeats=repeats, level=level, seed=seed)
