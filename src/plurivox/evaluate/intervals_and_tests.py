"""Confidence intervals and tests of a mean or a difference, over runs, tasks or data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from plurivox.core.array_types import Floats
from plurivox.core.errors import InputError, OptionError
from plurivox.evaluate.bootstrap_over_tasks import mean_as_task_sums, resample_measures

MAX_CELLS = 2**22  # random numbers drawn at a time


@dataclass(frozen=True)
class Interval:
    """A mean with its confidence interval; the ends are NaN if there is only one value."""

    mean: float
    low: float
    high: float

    @property
    def excludes_zero(self) -> bool:
        """Whether the confidence interval excludes 0."""
        return self.low > 0 or self.high < 0

    def __str__(self) -> str:
        if np.isnan(self.low):
            return "unknown" if np.isnan(self.mean) else f"{self.mean:+.4f}"
        return f"{self.mean:+.4f} [{self.low:+.4f}, {self.high:+.4f}]"


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation of several values."""

    mean: float
    std: float  # with n - 1 in the denominator; NaN for a single value
    n: int

    @classmethod
    def mean_and_std_of(cls, values: Sequence[float] | Floats) -> Self:
        """Return the mean and standard deviation of these values; NaN if one of them is NaN."""
        given = np.asarray(values, np.float64)
        return cls(float(given.mean()), float(given.std(ddof=1)) if len(given) > 1 else float("nan"), len(given))

    def mean_plus_minus_std_text(self, digits: int = 4) -> str:
        """Return "mean ± std" as text with `digits` decimals; only the mean if the standard deviation is NaN.

        >>> Spread.mean_and_std_of([0.8, 0.9]).mean_plus_minus_std_text()
        '0.8500 ± 0.0707'
        >>> Spread.mean_and_std_of([0.8]).mean_plus_minus_std_text(2)
        '0.80'
        """
        return f"{self.mean:.{digits}f}" + ("" if np.isnan(self.std) else f" ± {self.std:.{digits}f}")

    def __str__(self) -> str:
        return f"{self.mean_plus_minus_std_text()} (n={self.n})"


def spread(values: Sequence[float] | Floats) -> Spread:
    """Return the mean and standard deviation, sqrt(sum (x - mean)^2 / (n - 1)), of results over runs.

    >>> print(spread([0.91, 0.92, 0.93]))
    0.9200 ± 0.0100 (n=3)
    """
    return Spread.mean_and_std_of(_require_finite_array(values, "a spread"))


def t_interval(values: Sequence[float] | Floats, *, level: float = 0.95) -> Interval:
    """Return the mean with Student's t interval: mean ± t_(n - 1) std / sqrt(n), for a few normally distributed runs.

    Student (1908), https://doi.org/10.1093/biomet/6.1.1

    >>> print(t_interval([0.91, 0.92, 0.93]))
    +0.9200 [+0.8952, +0.9448]
    """
    about = spread(values)
    if about.n == 1:
        return Interval(about.mean, float("nan"), float("nan"))
    from scipy.special import stdtrit  # imported here because it is slow

    half = float(stdtrit(about.n - 1, (1 + level) / 2)) * about.std / about.n**0.5
    return Interval(about.mean, about.mean - half, about.mean + half)


def bootstrap(
    values: Sequence[float] | Floats, *, repeats: int = 10_000, level: float = 0.95, seed: int = 0
) -> Interval:
    """Return the mean with its percentile bootstrap interval: values are drawn with replacement.

    Efron (1979), https://doi.org/10.1214/aos/1176344552

    >>> print(bootstrap([0.1, 0.2, 0.3, 0.4]))
    +0.2500 [+0.1500, +0.3500]
    """
    given = _require_finite_array(values, "a bootstrap")
    if len(given) == 1:
        return Interval(float(given[0]), float("nan"), float("nan"))
    rng, means = np.random.default_rng(seed), np.empty(repeats)
    size = max(MAX_CELLS // len(given), 1)
    for begin in range(0, repeats, size):
        part = means[begin : begin + size]
        part[:] = given[rng.integers(0, len(given), (len(part), len(given)))].mean(1)
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
    """Return the mean of left - right with its bootstrap interval; pairs (data sets, tasks) are drawn together.

    Efron and Tibshirani (1993), chapter 16, https://doi.org/10.1201/9780429246593

    >>> paired_bootstrap([0.9, 0.8, 0.7], [0.8, 0.7, 0.6]).excludes_zero
    True
    """
    one, two = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if one.shape != two.shape:
        raise InputError(f"a paired bootstrap needs pairs; got {len(one)} and {len(two)} values")
    return bootstrap(one - two, repeats=repeats, level=level, seed=seed)


def simultaneous_bootstrap(
    values: Floats, *, repeats: int = 10_000, level: float = 0.95, seed: int = 0
) -> list[Interval]:
    """Return the mean of each column of `values` (n_tasks, n_columns) with intervals that hold together for all columns.

    mean_j ± c s_j, with s_j the bootstrap standard deviation of the mean of column j and c the `level` quantile, over
    resamples, of the largest |resampled mean_j - mean_j| / s_j. Rows (tasks) are drawn with replacement, the same for all
    columns. The columns are differences between methods, say: with probability `level` no interval misses its true mean,
    whereas of many single intervals some are expected to. A column without variation has an interval of width 0.
    Romano and Wolf (2005), https://doi.org/10.1111/j.1468-0262.2005.00615.x

    >>> values = np.random.default_rng(0).normal(size=(100, 3)) + [0, 0, 1]
    >>> [found.excludes_zero for found in simultaneous_bootstrap(values, repeats=1000)]
    [False, False, True]
    """
    given = _require_finite_array(values, "a bootstrap")
    if given.ndim != 2:
        raise InputError(f"simultaneous intervals need a table (tasks, columns); got {given.ndim} dimensions")
    drawn = resample_measures([mean_as_task_sums(column) for column in given.T], repeats=repeats, seed=seed)
    return simultaneous_intervals(given.mean(0), drawn, level=level)


def simultaneous_intervals(values: Floats, resampled_values: Floats, *, level: float = 0.95) -> list[Interval]:
    """Return values (n_columns,) with intervals that hold together, from bootstrap values (repeats, n_columns).

    As `simultaneous_bootstrap`, for values that are not means too, such as differences of correlations.
    """
    mean, drawn, std = values, resampled_values, resampled_values.std(0)
    varies = std > 1e-12 * np.maximum(np.abs(mean), 1)
    largest = (np.abs(drawn - mean)[:, varies] / std[varies]).max(1, initial=0)
    half = np.where(varies, np.quantile(largest, level) * std, 0)
    return [Interval(float(m), float(m - h), float(m + h)) for m, h in zip(mean, half, strict=True)]


@dataclass(frozen=True)
class Test:
    """A difference between two means and the p-value of a paired bootstrap test."""

    __test__: ClassVar[bool] = False  # not a test for pytest

    gain: float
    p_value: float
    n: int  # number of tasks

    @property
    def significance_stars(self) -> str:
        """The significance stars of the p-value as text: `**` if p <= .01, `*` if p <= .05, else empty."""
        return "**" if self.p_value <= 0.01 else "*" if self.p_value <= 0.05 else ""

    def __str__(self) -> str:
        return f"{self.gain:+.4f} (p = {self.p_value:.4f}){self.significance_stars}"


def paired_test(
    left: Sequence[float] | Floats,
    right: Sequence[float] | Floats,
    *,
    repeats: int = 10_000,
    fraction: float = 1.0,
    seed: int = 0,
) -> Test:
    """Return the gain mean(left) - mean(right) and its p-value: the share of resamples whose gain is above twice the gain.

    Pairs (tasks) are drawn with replacement, as many as there are, or a `fraction` of them: Fornaciari et al. (2021) drew
    .33, https://doi.org/10.18653/v1/2021.naacl-main.204, which gives larger p. Higher values must be better; p is 1
    if both are the same. For F1 and other measures that are not means see `compare_predictions`.
    Berg-Kirkpatrick, Burkett and Klein (2012), https://aclanthology.org/D12-1091

    >>> found = paired_test([1, 1, 1, 1, 0, 1, 1, 0], [1, 0, 0, 1, 0, 1, 1, 0])
    >>> found.gain, round(found.p_value, 2), found.significance_stars
    (0.25, 0.03, '*')
    """
    one, two = (_require_finite_array(side, "a paired test") for side in (left, right))
    if one.shape != two.shape:
        raise InputError(f"a paired test needs pairs; got {len(one)} and {len(two)} values")
    if not 0 < fraction <= 1:
        raise OptionError(f"fraction must be above 0, at most 1; got {fraction}")
    drawn = resample_measures([mean_as_task_sums(one - two)], repeats=repeats, seed=seed, fraction=fraction)[:, 0]
    gain = float((one - two).mean())
    return Test(gain, bootstrap_p_value(gain, drawn), len(one))


def bootstrap_p_value(gain: float, resampled_gains: Floats) -> float:
    """Return the bootstrap p-value of a gain: the share of resampled gains above twice the gain; 1 if the gain is 0."""
    # equal up to rounding is not above
    return 1.0 if gain == 0 else float((resampled_gains > 2 * gain + 1e-12 * abs(gain)).mean())


def two_sided_p_values(resampled_gains: Floats) -> Floats:
    """Return (n_measures,) two-sided p-values of gains from bootstrap gains (repeats, n_measures).

    >>> two_sided_p_values(np.array([[1.0], [2.0], [3.0]])).tolist()
    [0.5]
    """
    repeats = len(resampled_gains)
    below, above = (resampled_gains <= 0).sum(0), (resampled_gains >= 0).sum(0)
    return np.minimum(2 * (np.minimum(below, above) + 1) / (repeats + 1), 1.0)


@dataclass(frozen=True)
class RankTest:
    """The result of a Mann-Whitney rank test between two groups."""

    u: float  # number of pairs (one of each group) in which the left value is higher; ties count half
    p_value: float  # two-sided
    share: float  # u / number of pairs: the probability that a left value is above a right one

    def __str__(self) -> str:
        return f"U = {self.u:g}, left above right in {self.share:.3f} of pairs (p = {self.p_value:.4f})"


def mann_whitney(left: Sequence[float] | Floats, right: Sequence[float] | Floats) -> RankTest:
    """Return the two-sided Mann-Whitney rank test of whether values of `left` tend to be higher, corrected for ties.

    U = sum over pairs of 1[left > right] + 1/2 1[left = right]; p exact for small groups without ties.
    Mann and Whitney (1947), https://doi.org/10.1214/aoms/1177730491

    >>> print(mann_whitney([3, 4, 5], [1, 2]))
    U = 6, left above right in 1.000 of pairs (p = 0.2000)
    """
    from scipy.stats import mannwhitneyu  # imported here because it is slow

    one, two = (_require_finite_array(side, "a rank test") for side in (left, right))
    found = mannwhitneyu(one, two, alternative="two-sided")
    return RankTest(float(found.statistic), float(found.pvalue), float(found.statistic) / (len(one) * len(two)))


def _require_finite_array(values: Sequence[float] | Floats, test_name: str) -> Floats:
    """Return the values as a float64 array; raise InputError if there are none or a value is NaN or infinite."""
    given = np.asarray(values, np.float64)
    if not len(given) or not np.isfinite(given).all():
        raise InputError(
            f"{test_name} needs finite values; got {len(given)} values, {int((~np.isfinite(given)).sum())} not finite"
        )
    return given
