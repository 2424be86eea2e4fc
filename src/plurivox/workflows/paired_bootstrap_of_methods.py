"""Differences between methods on one data set, in measures against people, with intervals and tests over its tasks."""

from dataclasses import dataclass

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.evaluate import holm, measures_from_sums
from plurivox.evaluate.bootstrap_over_tasks import resample_sums
from plurivox.evaluate.intervals_and_tests import simultaneous_intervals, two_sided_p_values

SAME = 1e-12  # differences up to this are rounding errors


@dataclass(frozen=True, eq=False)
class DifferencesToReference:
    """Differences of methods to a reference method, each (n_methods, n_measures); NaN: no result, or no variation to test."""

    differences: Floats
    lows: Floats  # 95% intervals that hold together for all methods in one measure
    highs: Floats
    p_values: Floats  # two-sided, after Holm's correction over the methods


def differences_to_reference(numbers: Floats, reference: int, repeats: int, seed: int) -> DifferencesToReference:
    """Return the differences in `measures_from_sums` of methods with `numbers` (n_methods, n_tasks, 11) to one of them.

    Tasks are drawn with replacement, the same for all methods.
    """
    n_methods, n_tasks, width = numbers.shape
    table = numbers.transpose(1, 0, 2).reshape(n_tasks, n_methods * width)
    drawn = measures_from_sums(resample_sums(table, repeats=repeats, seed=seed).reshape(repeats, n_methods, width))
    value = measures_from_sums(numbers.sum(1))
    difference, resampled = value - value[reference], drawn - drawn[:, [reference]]
    lows, highs, p_values = (np.full(difference.shape, np.nan) for _ in range(3))
    for k in range(difference.shape[1]):
        finite = np.isfinite(resampled[:, :, k]).all(0) & np.isfinite(difference[:, k])
        tested = np.flatnonzero(finite & (np.abs(resampled[:, :, k]).max(0) > SAME))
        if n_tasks < 2 or not len(tested):
            continue
        ends = simultaneous_intervals(difference[tested, k], resampled[:, tested, k])
        lows[tested, k], highs[tested, k] = [one.low for one in ends], [one.high for one in ends]
        p_values[tested, k] = holm(two_sided_p_values(resampled[:, tested, k]))
    return DifferencesToReference(difference, lows, highs, p_values)
