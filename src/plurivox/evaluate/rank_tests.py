"""Rank tests of several methods over data sets, and Holm's correction for many comparisons."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial, prod

import numpy as np

from plurivox.core.array_types import Floats, Ints
from plurivox.core.errors import InputError

MIN_DATASETS = 3  # with fewer, no test can show a difference
MIN_METHODS = 3  # of Friedman's test; two methods are compared by the Wilcoxon test
N_DIGITS = 9  # values are compared after rounding to this many decimals, so that rounding errors do not break ties


@dataclass(frozen=True)
class FriedmanTest:
    """The result of Friedman's test of equal mean ranks, with the correction of Iman and Davenport."""

    chi2: float  # Friedman's statistic, corrected for ties; n_methods - 1 degrees of freedom
    f: float  # of Iman and Davenport; infinite if every data set gives the same ranks
    p_value: float  # of f
    n_methods: int
    n_datasets: int

    def __str__(self) -> str:
        low, high = self.n_methods - 1, (self.n_methods - 1) * (self.n_datasets - 1)
        return f"chi2({low}) = {self.chi2:.2f}, F({low}, {high}) = {self.f:.2f}, p {p_value_text(self.p_value, '= ')}"


def friedman(values: Floats | Sequence[Sequence[float]]) -> FriedmanTest:
    """Return Friedman's test of whether several methods (columns) have the same mean rank over data sets (rows).

    F = (n - 1) chi2 / (n (k - 1) - chi2) with k - 1 and (k - 1)(n - 1) degrees of freedom, for n data sets and k methods: the
    correction of Iman and Davenport, as Friedman's chi2 itself is too conservative. Ties share ranks. Needs three or more
    data sets and methods. Friedman (1937), https://doi.org/10.1080/01621459.1937.10503522; Demsar (2006),
    https://jmlr.org/papers/v7/demsar06a.html

    >>> print(friedman([[0.9, 0.8, 0.7], [0.8, 0.9, 0.6], [0.7, 0.6, 0.5], [0.9, 0.7, 0.8]]))
    chi2(2) = 4.50, F(2, 6) = 3.86, p = 0.0837
    """
    from scipy.stats import f as f_distribution  # imported here because it is slow
    from scipy.stats import friedmanchisquare

    table = np.asarray(values, np.float64).round(N_DIGITS)
    n, k = table.shape
    if n < MIN_DATASETS or k < MIN_METHODS or not np.isfinite(table).all():
        raise InputError(
            f"Friedman's test needs finite values of {MIN_METHODS} or more methods on {MIN_DATASETS} or more data sets; got "
            f"{k} methods, {n} data sets, {int((~np.isfinite(table)).sum())} values not finite"
        )
    if np.ptp(table, axis=1).max() == 0:  # every data set is one tie
        return FriedmanTest(0.0, 0.0, 1.0, k, n)
    chi2 = float(friedmanchisquare(*table.T).statistic)
    rest = n * (k - 1) - chi2
    if rest < 1e-9 * n * k:  # every data set gives the same ranks
        tied = np.unique(table[0], return_counts=True)[1].tolist()
        n_orders = factorial(k) / prod(factorial(t) for t in tied)  # distinct orders of the ranks of one data set
        return FriedmanTest(chi2, np.inf, n_orders ** -(n - 1.0), k, n)
    f = (n - 1) * chi2 / rest
    return FriedmanTest(chi2, f, float(f_distribution.sf(f, k - 1, (k - 1) * (n - 1))), k, n)


def wilcoxon_signed_rank(left: Sequence[float] | Floats, right: Sequence[float] | Floats) -> float:
    """Return the two-sided p-value of the Wilcoxon signed-rank test of paired values, such as two methods on data sets.

    Pairs without a difference are dropped; p is 1 if none is left. p is exact, with ties too: every difference has either sign
    with probability 1/2. (scipy is exact without ties, and approximate or slow with them.)
    Wilcoxon (1945), https://doi.org/10.2307/3001968

    >>> wilcoxon_signed_rank([0.9, 0.8, 0.7, 0.9, 0.6], [0.8, 0.6, 0.4, 0.5, 0.1])
    0.0625
    """
    from scipy.stats import rankdata  # imported here because it is slow

    one, two = np.asarray(left, np.float64), np.asarray(right, np.float64)
    if one.shape != two.shape or len(one) < MIN_DATASETS or not np.isfinite(one - two).all():
        raise InputError(
            f"a signed-rank test needs {MIN_DATASETS} or more pairs of finite values; got {len(one)} and {len(two)} values, "
            f"{int((~np.isfinite(one)).sum() + (~np.isfinite(two)).sum())} not finite"
        )
    differences = (one - two).round(N_DIGITS)
    differences = differences[differences != 0]
    doubled_ranks = (2 * rankdata(np.abs(differences))).astype(np.int64)  # whole numbers, as tied ranks may be halves
    probability = _distribution_of_positive_rank_sum(doubled_ranks)
    found = int(doubled_ranks[differences > 0].sum())
    return float(min(2 * min(probability[: found + 1].sum(), probability[found:].sum()), 1.0))


def _distribution_of_positive_rank_sum(ranks: Ints) -> Floats:
    """Return (sum of ranks + 1,) the probability of each sum of positive ranks, if each is positive with probability 1/2."""
    probability = np.zeros(int(ranks.sum()) + 1)
    probability[0] = 1
    for rank in ranks.tolist():
        shifted = np.roll(probability, rank)  # its last entries are still 0
        probability = (probability + shifted) / 2
    return probability


def holm(p_values: Sequence[float] | Floats) -> Floats:
    """Return the p-values of several tests after Holm's correction: p_(i) times the number of tests not yet passed, increasing.

    Rejecting where the corrected p is at most .05 keeps the probability of any false rejection at most .05. NaN stays NaN and
    does not count. Holm (1979), https://www.jstor.org/stable/4615733

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    given = np.asarray(p_values, np.float64)
    corrected = np.full(given.shape, np.nan)
    order = np.argsort(given)[: np.isfinite(given).sum()]  # NaN is sorted to the end
    corrected[order] = np.minimum(np.maximum.accumulate(given[order] * np.arange(len(order), 0, -1)), 1)
    return corrected


def p_value_text(p_value: float, equals: str = "") -> str:
    """Return a p-value as text, after the sign `equals` unless it is too small; "-" if NaN.

    >>> p_value_text(0.03), p_value_text(0.03, "= "), p_value_text(0.00002), p_value_text(float("nan"))
    ('0.0300', '= 0.0300', '< 0.0001', '-')
    """
    return "-" if np.isnan(p_value) else "< 0.0001" if p_value < 0.0001 else f"{equals}{p_value:.4f}"
