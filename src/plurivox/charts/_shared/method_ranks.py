"""Mean ranks of methods over data sets, and which methods do not differ: what a critical-difference diagram shows."""

from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np

from plurivox.core.array_types import Bools, Floats, Ints
from plurivox.evaluate import FriedmanTest, MethodsOverDatasets, holm, wilcoxon_signed_rank
from plurivox.evaluate.rank_tests import MIN_DATASETS

RankTestName = Literal["nemenyi", "wilcoxon"]
LEVEL = 0.05  # of the tests


@dataclass(frozen=True)
class MethodRanks:
    """Mean ranks of methods in one measure, best first; methods with the same values on all data sets are one of them."""

    methods: list[list[int]]  # columns of the methods that have each rank
    ranks: Floats  # (n_distinct,) increasing, 1 is best
    n_datasets: int  # on which all methods have a value
    groups: list[tuple[int, int]]  # (first, last) of methods in this order of which no pair differs
    critical_difference: float  # of two mean ranks by the Nemenyi test; nan for other tests
    smallest_possible_p: (
        float  # of a pair that differs in the same direction on all data sets; nan for the Nemenyi test
    )
    friedman: FriedmanTest | None  # None with fewer than three methods or data sets


def method_ranks(values: Floats, *, higher_is_better: bool, test: RankTestName) -> MethodRanks:
    """Return the mean ranks of (n_datasets, n_methods) values, and the groups of methods that do not differ by a test.

    With fewer than three data sets, for which no test can show a difference, there are no groups.

    >>> values = np.array([[0.9, 0.8, 0.2, 0.8]] * 8)
    >>> found = method_ranks(values, higher_is_better=True, test="nemenyi")
    >>> found.methods, found.ranks.tolist(), found.groups, round(found.critical_difference, 2)
    ([[0], [1, 3], [2]], [1.0, 2.0, 3.0], [(0, 1), (1, 2)], 1.17)
    """
    compared = MethodsOverDatasets(values, 0, higher_is_better)
    distinct, n = compared.distinct_methods, len(compared.ranked_datasets)
    order = distinct[np.argsort(compared.mean_ranks[distinct], kind="stable")]
    ranks, critical = compared.mean_ranks[order], nemenyi_critical_difference(len(order), n)
    same = [np.flatnonzero(compared.first_with_same_values == one).tolist() for one in order]
    if n < MIN_DATASETS:
        return MethodRanks(same, ranks, n, [], np.nan, np.nan, None)
    if test == "nemenyi":
        groups = groups_without_difference(np.abs(ranks[:, None] - ranks) > critical)
        return MethodRanks(same, ranks, n, groups, critical, np.nan, compared.friedman)
    groups = groups_without_difference(_differ_by_wilcoxon(values[np.ix_(compared.ranked_datasets, order)]))
    smallest = min(len(order) * (len(order) - 1) / 2 * 2.0 ** (1 - n), 1.0)
    return MethodRanks(same, ranks, n, groups, np.nan, smallest, compared.friedman)


def nemenyi_critical_difference(n_methods: int, n_datasets: int) -> float:
    """Return the smallest difference of mean ranks that the Nemenyi test calls significant at 5%; nan if it is undefined.

    q sqrt(k (k + 1) / (6 n)) for k methods and n data sets, with q the 95% quantile of the studentised range over sqrt(2).
    Demsar (2006), https://jmlr.org/papers/v7/demsar06a.html

    >>> round(nemenyi_critical_difference(4, 14), 2)
    1.25
    """
    from scipy.stats import studentized_range  # imported here because it is slow

    if n_methods < 2 or n_datasets < 1:
        return np.nan
    q = float(studentized_range.ppf(1 - LEVEL, n_methods, np.inf)) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def _differ_by_wilcoxon(values: Floats) -> Bools:
    """Return (n_methods, n_methods) whether two columns differ by the signed-rank test with Holm's correction for all pairs."""
    n = values.shape[1]
    pairs: Ints = np.array(list(combinations(range(n), 2)), np.int64).reshape(-1, 2)
    p_values = holm([wilcoxon_signed_rank(values[:, i], values[:, j]) for i, j in pairs])
    differs = np.zeros((n, n), bool)
    differs[pairs[:, 0], pairs[:, 1]] = differs[pairs[:, 1], pairs[:, 0]] = p_values <= LEVEL
    return differs


def groups_without_difference(differs: Bools) -> list[tuple[int, int]]:
    """Return (first, last) of the longest runs of two methods or more in which no pair differs.

    >>> differs = np.zeros((4, 4), bool)
    >>> differs[0, 3] = differs[3, 0] = True
    >>> groups_without_difference(differs)
    [(0, 2), (1, 3)]
    """
    n, found = len(differs), list[tuple[int, int]]()
    for first in range(n):
        last = first
        while last + 1 < n and not differs[first : last + 2, first : last + 2].any():
            last += 1
        if last > first and (not found or last > found[-1][1]):
            found.append((first, last))
    return found
