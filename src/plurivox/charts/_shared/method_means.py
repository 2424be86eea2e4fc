"""The mean of a measure over data sets for each method, with its interval and the values of single data sets."""

from dataclasses import dataclass

import numpy as np

from plurivox.charts._contract import MethodMeasures
from plurivox.core.array_types import Floats, Ints


@dataclass(frozen=True)
class MeanOfMeasure:
    """One measure of all methods; NaN: no result, or no interval."""

    title: str
    mean: Floats  # (n_methods,)
    low: Floats
    high: Floats
    single: (
        Floats  # (n_datasets, n_methods) values of single data sets, moved so that the reference is at its mean in all
    )
    higher_is_better: bool
    smallest_value: float  # of all methods on all data sets

    def best_first(self) -> Ints:
        """Return the methods with a mean, the best first."""
        known = np.flatnonzero(np.isfinite(self.mean))
        sign = -1 if self.higher_is_better else 1
        return known[np.argsort((sign * self.mean[known]).round(9), kind="stable")]


def means_of_measure(made: MethodMeasures, title: str) -> MeanOfMeasure:
    """Return the means of one measure.

    With a reference method, the mean of a method is that of the reference plus the mean difference on the data sets that
    both have a result on, so that a method without a result on a hard data set gains nothing by that.

    >>> values = np.array([[0.9, 0.8], [0.5, np.nan]])
    >>> made = MethodMeasures(("easy", "hard"), ("a", "b"), {"accuracy": values}, reference="a")
    >>> means_of_measure(made, "accuracy").mean.round(2).tolist()
    [0.7, 0.6]
    """
    values = made.values[title]
    smallest = float(np.nanmin(values, initial=np.inf))
    if len(made.datasets) > 1 and made.reference in made.methods:
        base = values[:, [made.methods.index(made.reference)]]
        moved = values - base + nan_mean(base)
        both = np.isfinite(moved).any(0)
        values = np.where(both, moved, values)
    unknown = np.full(len(made.methods), np.nan)
    low, high = (ends.get(title, unknown) for ends in (made.low, made.high))
    return MeanOfMeasure(title, nan_mean(values), low, high, values, title in made.higher_is_better, smallest)


def nan_mean(values: Floats) -> Floats:
    """Return the mean of each column over its known values; NaN if it has none."""
    known = np.isfinite(values)
    n = known.sum(0)
    return np.where(n > 0, np.where(known, values, 0.0).sum(0) / np.maximum(n, 1), np.nan)
